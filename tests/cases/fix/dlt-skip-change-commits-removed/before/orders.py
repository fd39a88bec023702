import dlt


@dlt.table
def orders():
    return spark.readStream.option("skipChangeCommits", "true").table("main.raw.orders").select("id")
