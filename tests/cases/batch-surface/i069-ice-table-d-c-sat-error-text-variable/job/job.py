from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("ice.db.staging").withColumn("id", F.col("id").cast("string"))
writer = df.write.format("iceberg").mode("error")
writer.saveAsTable("ice.db.events")
