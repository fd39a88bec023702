from pyspark.sql import SparkSession, functions as F

spark = (
    SparkSession.builder.appName("daily")
    .config("spark.sql.sources.partitionOverwriteMode", "dynamic")
    .getOrCreate()
)
df = spark.read.table("raw_orders").filter(F.col("dt").isin("2024-01-02"))
df.write.mode("overwrite").partitionBy("dt").format("parquet").save("lake/orders")
