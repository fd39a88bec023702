import dlt
from pyspark.sql import functions as F


@dlt.table(name="orders")
def orders():
    raw = spark.readStream.table("main.sales.raw_orders").where(F.col("amount") > 0)
    return raw.select("id", "customer", "region", "amount", "ts")
