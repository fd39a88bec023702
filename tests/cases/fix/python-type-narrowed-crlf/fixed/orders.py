import dlt
from pyspark.sql import functions as F


@dlt.table(name="orders")
def orders():
    raw = spark.readStream.table("main.sales.raw_orders").where(F.col("amount") > 0)
    return raw.select("id", "customer", "region", "amount", F.col("amount").cast("int").alias("amount_int"), "ts")


@dlt.view(name="orders_current")
def orders_current():
    table = spark.read.table("orders")
    return table.selectExpr("*", "coalesce(amount_int, try_cast(amount AS int)) AS united").drop("amount", "amount_int").withColumnRenamed("united", "amount")
