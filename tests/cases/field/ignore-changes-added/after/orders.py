from pyspark import pipelines as dp


@dp.table
def orders():
    return spark.readStream.option("ignoreChanges", "true").table("main.raw.orders").select("id")
