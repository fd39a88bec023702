from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("INSERT INTO events REPLACE WHERE d = DATE '2024-01-02' SELECT id, v, d FROM staging WHERE d = DATE '2024-01-02'")
