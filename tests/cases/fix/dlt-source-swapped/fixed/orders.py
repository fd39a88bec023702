import dlt


@dlt.table
def orders():
    return (
        dlt.read_stream("main.raw.orders")
        .select("id", "amount")
    )


@dlt.append_flow(target="orders", name="orders_from_returns")
def orders_from_returns():
    return (
        dlt.read_stream("main.raw.returns")
        .select("id", "amount")
    )
