from pyspark import pipelines as dp
from pyspark.sql import functions as F

@F.udf("string")
def clean(text):
    return text.strip()


@dp.table
def orders():
    return spark.readStream.table("main.sales.raw_orders").select("id", clean("customer").alias("customer"))
