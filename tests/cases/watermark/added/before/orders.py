from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def orders():
    return spark.readStream.table("main.sales.raw_orders").dropDuplicates(["id", "ts"])
