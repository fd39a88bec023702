from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()


def store(frame):
    frame.write.mode("overwrite").format("orc").partitionBy("day").save("/data/sales/daily")


store(spark.read.orc("/data/raw/orders").where("day = DATE'2024-05-02'"))
