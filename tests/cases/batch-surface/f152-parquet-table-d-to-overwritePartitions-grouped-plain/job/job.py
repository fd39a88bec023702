from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("staging").groupBy('id', 'd').agg(F.max("v").alias("v")).select("id", "v", "d")
df.writeTo("events").overwritePartitions()
