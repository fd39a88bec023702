from pyspark import pipelines as dp


@dp.table
def events():
    return spark.readStream.table("raw.ev").withWatermark("ts", "1 hour").filter("id > 0").select("id", "ts").dropDuplicates()
