from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("staging").withColumnRenamed("v", "val")
writer = df.write.mode("error")
writer.parquet("out/events")
