from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("ice.db.staging")
writer = df.write.format("iceberg").mode("overwrite").partitionBy("d")
writer.saveAsTable("ice.db.events")
