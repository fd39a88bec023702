from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("staging").withColumnRenamed("v", "val")
df.write.mode("append").option("partitionOverwriteMode", "dynamic").saveAsTable("events")
