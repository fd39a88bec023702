from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("INSERT INTO ice.db.events SELECT id, v, d FROM ice.db.staging WHERE d = DATE '2024-01-02'")
