from pyspark import pipelines as dp


@dp.table
def orders():
    return (
        spark.readStream.table("main.raw.orders")
        .selectExpr("id", "amount", "CAST(amount AS INT) AS amount_int")
    )


@dp.temporary_view(name="orders_current")
def orders_current():
    table = spark.read.table("orders")
    return table.selectExpr("*", "coalesce(amount_int, try_cast(amount AS int)) AS united").drop("amount", "amount_int").withColumnRenamed("united", "amount")
