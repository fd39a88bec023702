from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("ice.db.staging").drop("v")
writer = df.write.mode("overwrite").option("overwrite-mode", "static")
writer.saveAsTable("ice.db.events")
