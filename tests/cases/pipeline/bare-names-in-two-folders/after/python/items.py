import dlt


@dlt.table
def items():
    return spark.readStream.table("main.raw.items").select("id", "name")


@dlt.table
def sales():
    return spark.readStream.table("main.raw.sales").select("id", "amount")
