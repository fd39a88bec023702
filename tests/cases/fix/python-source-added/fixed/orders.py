from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table(name="orders")
def orders():
    raw = spark.readStream.table("main.sales.raw_orders").where(F.col("amount") > 0)
    return raw.select("id", "customer", "region", "amount", "ts")


@dp.append_flow(target="orders", name="orders_from_web_orders")
def orders_from_web_orders():
    web = spark.readStream.table("main.sales.web_orders")
    return web.select("id", "customer", "region", "amount", "ts")


@dp.table
def copy():
    return spark.readStream.table("orders").select("id")
