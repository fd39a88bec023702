from pyspark import pipelines as dp

dp.create_streaming_table("customers")
dp.create_auto_cdc_flow(target="customers", source="raw.crm.changes", keys=["id"], sequence_by="ts")

@dp.table
def copies():
    return spark.readStream.option("readChangeFeed", "true").table("customers")
