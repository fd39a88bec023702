from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table(name="orders")
def orders():
    raw = spark.readStream.table("main.sales.web_orders").where(F.col("amount") > 0)
    return raw.select("id", "customer", "region", "amount", "ts")


@dp.table
def copy():
    return spark.readStream.table("orders").select("id")
