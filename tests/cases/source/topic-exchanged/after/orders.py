from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def orders():
    return spark.readStream.format("kafka").option("kafka.bootstrap.servers", "broker:9092").option("subscribe", "orders_v2").load().selectExpr("CAST(value AS STRING) AS body")
