from pyspark import pipelines as dp

dp.create_streaming_table("events")

@dp.append_flow(target="events", name="live")
def live():
    return spark.readStream.table("raw.ev").dropDuplicates(["id"])
