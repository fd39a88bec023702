from pyspark import pipelines as dp

dp.create_streaming_table("orders")
dp.create_auto_cdc_flow(target="orders", source="changes", keys=["id", "country"], sequence_by="created_at")


@dp.temporary_view
def changes():
    return spark.readStream.table("raw_orders")
