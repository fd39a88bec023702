from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
def load(frame, target):
    frame.write.format("parquet").mode("append").save(target)


load(spark.table("staging").withColumn("extra", F.lit(1)), "out/events")
