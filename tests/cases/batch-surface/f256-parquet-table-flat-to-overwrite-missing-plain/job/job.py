from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("staging").drop("v")
df.writeTo("events").overwrite(F.col("d") == "2024-01-02")
