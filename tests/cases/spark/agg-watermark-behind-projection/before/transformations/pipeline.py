from pyspark import pipelines as dp


@dp.table
def t():
    return spark.readStream.table("events").withWatermark("ts", "10 minutes").filter("id > 0").select("id", "ts").dropDuplicates(["id", "ts"])
