from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
def load(frame, target):
    frame.write.mode("overwrite").partitionBy("d").saveAsTable(target)


load(spark.table("staging").withColumn("id", F.col("id").cast("bigint")), "events")
