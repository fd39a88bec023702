from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("INSERT INTO ice.db.events BY NAME SELECT * FROM ice.db.staging")
