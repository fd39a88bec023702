from pyspark import pipelines as dp


@dp.table
def matches():
    events = spark.readStream.table("raw.ev").withWatermark("ts", "1 hour")
    clicks = spark.readStream.table("raw.clk").withWatermark("cts", "1 hour")
    return events.join(clicks, events.id == clicks.cid).select("id", "ts", "url").withWatermark("ts", "1 hour")
