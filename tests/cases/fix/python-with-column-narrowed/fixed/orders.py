from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def orders():
    return (
        spark.readStream.table("main.raw.orders")
        .select("id", "amount")
        .withColumn("amount_int", F.col("amount").cast("int"))
    )


@dp.temporary_view(name="orders_current")
def orders_current():
    table = spark.read.table("orders")
    return table.selectExpr("*", "coalesce(amount_int, try_cast(amount AS int)) AS united").drop("amount", "amount_int").withColumnRenamed("united", "amount")
