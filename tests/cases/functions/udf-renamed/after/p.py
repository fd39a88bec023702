from pyspark import pipelines as dp
from pyspark.sql import functions as F


@F.udf("string")
def stripped(value):
    return value.strip() if value else None


@dp.table
def people():
    return spark.readStream.table("main.raw.events").select("id", stripped("name").alias("v"))
