import dlt
from pyspark.sql import functions as F


@dlt.table(name="orders")
def orders():
    recent = (
        spark.readStream.table("main.sales.raw_orders")
        .where("amount > 0 and customer is not null")
    )
    return recent.select("id", "customer", "region", "amount", "ts")
