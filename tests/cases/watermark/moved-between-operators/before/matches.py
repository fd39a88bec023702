from pyspark import pipelines as dp


@dp.table
def matches():
    events = spark.readStream.table("raw.ev").withWatermark("ts", "1 hour")
    clicks = spark.readStream.table("raw.clk")
    return events.join(clicks, (events.id == clicks.cid) & (clicks.cts >= events.ts)).select("id", "ts", "url").dropDuplicates(["id", "ts"])
