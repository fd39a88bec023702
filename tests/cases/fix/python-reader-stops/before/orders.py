from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def orders():
    raw = spark.readStream.table("main.sales.raw_orders").withWatermark("ts", "1 hour")
    return raw.groupBy(F.window("ts", "1 hour"), "region").count().select("region", "count")


@dp.table
def copy():
    return spark.readStream.table("orders").select("region")
