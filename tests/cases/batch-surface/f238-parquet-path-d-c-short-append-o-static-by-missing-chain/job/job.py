from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.table("staging").drop("v").write.mode("append").option("partitionOverwriteMode", "static").partitionBy("d", "c").parquet("out/events")
