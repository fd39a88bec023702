from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("staging").withColumn("id", F.col("id").cast("bigint"))
writer = df.write.mode("append").partitionBy("d")
writer.parquet("out/events")
