from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("TRUNCATE TABLE events PARTITION (d = '2024-01-02')")
spark.sql("INSERT INTO events SELECT id, v, c, d FROM staging")
