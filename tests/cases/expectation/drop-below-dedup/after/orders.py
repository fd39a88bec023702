import dlt


@dlt.table
@dlt.expect_or_drop("positive", "amount > 0")
def orders():
    return spark.readStream.table("main.sales.raw_orders").select("id", "amount").dropDuplicates(["id"])
