import dlt
from pyspark.sql import functions as F


@dlt.table(name="orders")
def orders():
    recent = (
        spark.readStream.table("main.sales.raw_orders")
        .where((F.col("amount") > 0) & F.col("customer").isNotNull())
    )
    return recent.select("id", "customer", "amount", "ts")
