from pyspark import pipelines as dp


@dp.table
def events():
    return spark.readStream.table("raw.ev").filter("id > 0").select("id", "ts").withWatermark("ts", "1 hour").dropDuplicates()
