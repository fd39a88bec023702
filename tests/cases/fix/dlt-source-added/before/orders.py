import dlt


@dlt.table
def orders():
    return (
        dlt.read_stream("main.raw.orders")
        .join(spark.read.table("main.raw.countries"), "country")
        .select("id", "region")
    )
