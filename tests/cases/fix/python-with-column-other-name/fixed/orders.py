from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def orders():
    return (
        spark.readStream.table("main.raw.orders")
        .select("id", "amount")
        .withColumn("doubled", F.col("amount") * 2).withColumn("twice", F.col("amount") * 2)
    )


@dp.temporary_view(name="orders_current")
def orders_current():
    table = spark.read.table("orders")
    return table.selectExpr("*", "coalesce(twice, doubled) AS united").drop("twice", "doubled").withColumnRenamed("united", "twice")
