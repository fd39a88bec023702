import dlt


@dlt.table
def items():
    return spark.readStream.table("main.raw.items").select("id", "name")
