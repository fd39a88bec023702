from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
@dp.expect_all({"positive": "amount > 0"})
def orders():
    return spark.readStream.table("main.sales.raw_orders").select("id", "amount")
