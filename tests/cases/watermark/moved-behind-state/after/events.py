from pyspark import pipelines as dp


@dp.temporary_view
def once():
    return spark.readStream.table("raw.ev").dropDuplicates(["id", "ts"])


@dp.table
def events():
    return spark.readStream.table("once").withWatermark("ts", "1 hour")
