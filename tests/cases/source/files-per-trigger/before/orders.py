from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def orders():
    return spark.readStream.format("cloudFiles").option("cloudFiles.format", "json").schema("id BIGINT, amount BIGINT").load("/landing/orders")
