from pyspark import pipelines as dp


@dp.table
def orders():
    return (
        spark.readStream.table("main.raw.orders")
        .select("id", "amount")
        .withColumnsRenamed({"id": "order_id"}).selectExpr("*", "amount AS total")
    )


@dp.temporary_view(name="orders_current")
def orders_current():
    table = spark.read.table("orders")
    return table.selectExpr("*", "coalesce(total, amount) AS united").drop("total", "amount").withColumnRenamed("united", "total")
