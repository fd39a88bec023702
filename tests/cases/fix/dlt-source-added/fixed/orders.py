import dlt


@dlt.table
def orders():
    everything = dlt.read_stream("main.raw.orders")
    return everything.join(spark.read.table("main.raw.countries"), "country").select("id", "region")


@dlt.append_flow(target="orders", name="orders_from_returns")
def orders_from_returns():
    everything = dlt.read_stream("main.raw.returns")
    return everything.join(spark.read.table("main.raw.countries"), "country").select("id", "region")
