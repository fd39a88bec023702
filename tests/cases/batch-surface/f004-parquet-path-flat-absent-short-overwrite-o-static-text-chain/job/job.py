from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.table("staging").withColumn("id", F.col("id").cast("string")).write.mode("overwrite").option("partitionOverwriteMode", "static").parquet("out/events")
