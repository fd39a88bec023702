from pyspark import pipelines as dp


@dp.table
def orders():
    return spark.readStream.table("main.raw.orders").select("id")
