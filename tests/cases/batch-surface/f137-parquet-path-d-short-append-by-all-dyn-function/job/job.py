from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
def load(frame, target):
    frame.write.mode("append").partitionBy("v").parquet(target)


load(spark.table("staging"), "out/events")
