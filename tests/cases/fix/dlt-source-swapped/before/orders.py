import dlt


@dlt.table
def orders():
    return (
        dlt.read_stream("main.raw.orders")
        .select("id", "amount")
    )
