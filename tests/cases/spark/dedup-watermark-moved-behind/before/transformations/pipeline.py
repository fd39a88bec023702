from pyspark import pipelines as dp


@dp.table
def t():
    return spark.readStream.table("events").withWatermark("ts", "10 minutes").dropDuplicates(["id", "ts"])
