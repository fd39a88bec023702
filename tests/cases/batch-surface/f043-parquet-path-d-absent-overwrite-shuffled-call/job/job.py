from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("INSERT OVERWRITE TABLE parquet.`out/events` SELECT d, v, id FROM staging")
