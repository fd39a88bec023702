from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("CREATE TABLE events USING json AS WITH s AS (SELECT * FROM staging WHERE d >= '2024-01-02') SELECT id, v, d FROM s")
