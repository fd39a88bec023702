from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
def load(frame, target):
    frame.write.format("parquet").mode("overwrite").partitionBy("d").save(target)


load(spark.table("staging").where(F.col('d') >= '2024-01-02'), "out/events")
