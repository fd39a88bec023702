from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("staging").join(spark.read.format("parquet").load("out/events"), "id", "left_anti")
df.write.mode("overwrite").partitionBy("d").parquet("out/events")
