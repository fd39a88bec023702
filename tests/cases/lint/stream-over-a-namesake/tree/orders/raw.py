from pyspark import pipelines as dp

@dp.table
def raw_orders():
    return spark.readStream.format("cloudFiles").option("cloudFiles.format", "json").load("/Volumes/main/raw/orders")

@dp.table
def orders():
    return spark.readStream.table("raw_orders")
