from pyspark import pipelines as dp
from pyspark.sql import functions as F

keys = ["id", "region"]


@dp.table
def orders():
    return spark.readStream.table("main.sales.raw_orders").dropDuplicates(keys)
