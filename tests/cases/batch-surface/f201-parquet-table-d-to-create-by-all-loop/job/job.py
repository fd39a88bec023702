from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
for each in ["2024-01-02", "2024-01-04"]:
    part = spark.table("staging").where(F.col('d') == each)
    part.writeTo("events").using("parquet").partitionedBy(F.col("d")).create()
