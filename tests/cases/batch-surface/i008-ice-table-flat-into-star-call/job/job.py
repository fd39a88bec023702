from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("INSERT INTO ice.db.events SELECT * FROM ice.db.staging")
