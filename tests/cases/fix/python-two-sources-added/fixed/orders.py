from pyspark import pipelines as dp


@dp.table
def orders():
    orders = spark.readStream.table("main.raw.orders").select("id", "amount")
    return orders


@dp.append_flow(target="orders", name="orders_from_refunds")
def orders_from_refunds():
    return spark.readStream.table("main.raw.refunds").select("id", "amount")


@dp.append_flow(target="orders", name="orders_from_returns")
def orders_from_returns():
    returns = spark.readStream.table("main.raw.returns").select("id", "amount")
    return returns
