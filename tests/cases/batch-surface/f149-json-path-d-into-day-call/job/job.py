from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("INSERT INTO json.`out/events` SELECT id, v, d FROM staging WHERE d = DATE '2024-01-02'")
