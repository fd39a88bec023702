from pyspark import pipelines as dp

dp.create_streaming_table("events")

for region in ["eu", "us"]:

    @dp.append_flow(target="events", name=f"flow_{region}")
    def read(region=region):
        return spark.readStream.table(f"raw.{region}")
