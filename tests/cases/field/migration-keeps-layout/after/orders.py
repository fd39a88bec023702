from pyspark import pipelines as dp


@dp.table(name="orders", partition_cols=["country"])
def orders():
    return spark.readStream.table("main.raw.orders").select("id", "country", "amount")
