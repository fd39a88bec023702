from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("DELETE FROM ice.db.events WHERE d = '2024-01-02'")
spark.sql("INSERT INTO ice.db.events SELECT id, v, d FROM ice.db.staging")
