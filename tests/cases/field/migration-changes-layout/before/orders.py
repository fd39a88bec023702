import dlt


@dlt.table(name="orders", partition_cols=["country"])
def orders():
    return spark.readStream.table("main.raw.orders").select("id", "country", "amount")
