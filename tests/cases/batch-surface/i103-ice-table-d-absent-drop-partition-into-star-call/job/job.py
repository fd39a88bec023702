from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("ALTER TABLE ice.db.events DROP PARTITION (d = '2024-01-04')")
spark.sql("INSERT INTO ice.db.events SELECT * FROM ice.db.staging")
