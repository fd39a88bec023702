import dlt


@dlt.table
def orders():
    everything = dlt.read_stream("main.raw.orders").unionByName(dlt.read_stream("main.raw.returns"))
    return everything.join(spark.read.table("main.raw.countries"), "country").select("id", "region")
