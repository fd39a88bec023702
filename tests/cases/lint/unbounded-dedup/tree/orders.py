from pyspark import pipelines as dp


@dp.table
def orders():
    return spark.readStream.table("raw.sales.orders").dropDuplicates(["id"])
