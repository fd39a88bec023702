from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.table("ice.db.staging").drop("v").writeTo("ice.db.events").overwritePartitions()
