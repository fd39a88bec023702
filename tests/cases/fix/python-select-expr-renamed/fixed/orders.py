from pyspark import pipelines as dp


@dp.table
def orders():
    return (
        spark.readStream.table("main.raw.orders")
        .selectExpr("id", "amount * 2 AS doubled", "amount * 2 AS twice")
    )


@dp.temporary_view(name="orders_current")
def orders_current():
    table = spark.read.table("orders")
    return table.selectExpr("*", "coalesce(twice, doubled) AS united").drop("twice", "doubled").withColumnRenamed("united", "twice")
