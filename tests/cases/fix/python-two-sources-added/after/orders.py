from pyspark import pipelines as dp


@dp.table
def orders():
    orders = spark.readStream.table("main.raw.orders").select("id", "amount")
    returns = spark.readStream.table("main.raw.returns").select("id", "amount")
    return orders.union(returns).union(spark.readStream.table("main.raw.refunds").select("id", "amount"))
