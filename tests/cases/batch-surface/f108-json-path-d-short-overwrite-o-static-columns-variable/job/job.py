from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("staging").select("id", "v", "d")
writer = df.write.mode("overwrite").option("partitionOverwriteMode", "static")
writer.json("out/events")
