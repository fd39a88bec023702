from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def orders():
    return spark.readStream.format("cloudFiles").options(**{"cloudFiles.format": "json", "mode": "PERMISSIVE"}).schema("id BIGINT, amount BIGINT").load("/landing/orders")
