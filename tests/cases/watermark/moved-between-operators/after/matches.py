from pyspark import pipelines as dp


@dp.table
def matches():
    events = spark.readStream.table("raw.ev")
    clicks = spark.readStream.table("raw.clk")
    joined = events.join(clicks, (events.id == clicks.cid) & (clicks.cts >= events.ts)).select("id", "ts", "url")
    return joined.withWatermark("ts", "1 hour").dropDuplicates(["id", "ts"])
