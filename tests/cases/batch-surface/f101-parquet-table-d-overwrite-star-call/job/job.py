from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("INSERT OVERWRITE events SELECT * FROM staging")
