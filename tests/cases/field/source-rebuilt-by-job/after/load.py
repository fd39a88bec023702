from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.sql("CREATE OR REPLACE TABLE main.raw.orders AS SELECT * FROM main.landing.orders")
