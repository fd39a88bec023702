import dlt
from pyspark.sql import functions as F


@dlt.table
def orders():
    return (
        dlt.read_stream("main.raw.orders")
        .select("id", "amount", F.col("amount").cast("int").alias("amount_int"))
    )


@dlt.view(name="orders_current")
def orders_current():
    table = spark.read.table("orders")
    return table.selectExpr("*", "coalesce(amount_int, try_cast(amount AS int)) AS united").drop("amount", "amount_int").withColumnRenamed("united", "amount")
