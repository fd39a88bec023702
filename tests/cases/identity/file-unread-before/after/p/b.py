from pyspark import pipelines as dp


@dp.table
def totals():
    return spark.readStream.table("raw.sums")
