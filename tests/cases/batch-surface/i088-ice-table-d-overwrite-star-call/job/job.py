from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("INSERT OVERWRITE ice.db.events SELECT * FROM ice.db.staging")
