from pyspark import pipelines as dp

dp.create_streaming_table("orders", comment="all")


@dp.append_flow(target="orders")
def first():
    return spark.readStream.table("main.raw.orders").select("id", "amount")
