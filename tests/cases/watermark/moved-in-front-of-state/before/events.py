from pyspark import pipelines as dp


@dp.table
def events():
    return spark.readStream.table("raw.ev").dropDuplicates(["id", "ts"]).withWatermark("ts", "1 hour")
