import dlt
from pyspark.sql import functions as F

@dlt.table
@dlt.expect_or_drop("known_region", "region <> 'a'")
def per_region():
    return (spark.readStream.table("main.sales.raw_orders").withWatermark("ts", "10 minutes")
        .groupBy(F.window("ts", "5 minutes").alias("w"), "region").agg(F.sum("amount").alias("total")))
