from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("DELETE FROM events WHERE d IN (SELECT d FROM staging)")
spark.sql("INSERT INTO events SELECT * FROM staging")
