from pyspark import pipelines as dp

dp.create_streaming_table("orders", comment="all", table_properties={"pipelines.reset.allowed": "false"})


@dp.append_flow(target="orders")
def first():
    return spark.readStream.table("main.raw.orders").select("id", "amount").where("amount > 0")
