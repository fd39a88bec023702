import dlt
from pyspark.sql import functions as F


@dlt.table(name="orders")
def orders():
    return (
        spark.readStream.table("main.sales.raw_orders")
        .withWatermark("ts", "10 minutes")
        .groupBy("customer", F.window("ts", "1 hour"))
        .agg(F.sum("amount").alias("total"))
        .select("customer", F.col("window.start").alias("hour"), "total")
    )
