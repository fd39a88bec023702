import dlt


@dlt.table
def orders():
    return (
        dlt.read_stream("main.raw.returns")
        .select("id", "amount")
    )
