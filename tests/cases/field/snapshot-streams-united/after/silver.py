from functools import reduce

from pyspark import pipelines as dp

SNAPSHOTS = ["mon", "tue", "wed"]


@dp.table
def silver():
    streams = [spark.readStream.table(f"main.raw.snapshot_{day}") for day in SNAPSHOTS]
    return reduce(lambda left, right: left.unionByName(right), streams)
