from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("INSERT OVERWRITE DIRECTORY 'out/events' USING parquet WITH s AS (SELECT * FROM staging WHERE d >= '2024-01-02') SELECT id, v, d FROM s")
