from pyspark import pipelines as dp

@dp.table
def landed():
    return spark.readStream.table("raw.ev")

dp.create_streaming_table("events")

@dp.append_flow(target="events")
def from_landed():
    return spark.readStream.table("landed").select("id", "n")
