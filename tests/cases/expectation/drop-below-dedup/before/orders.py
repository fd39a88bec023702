import dlt


@dlt.table
def orders():
    return spark.readStream.table("main.sales.raw_orders").select("id", "amount").dropDuplicates(["id"])
