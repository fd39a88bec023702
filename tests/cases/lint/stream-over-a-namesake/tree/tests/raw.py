from pyspark import pipelines as dp

@dp.materialized_view
def raw_orders():
    return spark.read.json("/Volumes/main/test/orders")
