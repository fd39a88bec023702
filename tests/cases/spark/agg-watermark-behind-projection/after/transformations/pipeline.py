from pyspark import pipelines as dp


@dp.table
def t():
    return spark.readStream.table("events").filter("id > 0").select("id", "ts").withWatermark("ts", "10 minutes").dropDuplicates(["id", "ts"])
