import dlt
from pyspark.sql import functions as F


@dlt.table
def orders():
    return (
        dlt.read_stream("main.raw.orders")
        .select("id", F.col("amount").cast("int").alias("amount"))
    )
