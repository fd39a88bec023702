from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("INSERT INTO events SELECT id, v, d FROM staging s WHERE NOT EXISTS (SELECT 1 FROM events t WHERE t.id = s.id)")
