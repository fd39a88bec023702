from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
def load(frame, target):
    frame.write.mode("overwrite").option("partitionOverwriteMode", "dynamic").partitionBy("d").parquet(target)


load(spark.table("staging").filter(F.col("d") == F.lit(day).cast("date")), "out/events")
