from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table(name="orders")
def orders():
    return spark.readStream.table("main.sales.raw_orders")
