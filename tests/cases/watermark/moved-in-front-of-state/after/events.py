from pyspark import pipelines as dp


@dp.table
def events():
    return spark.readStream.table("raw.ev").withWatermark("ts", "1 hour").dropDuplicates(["id", "ts"])
