from pyspark import pipelines as dp
from pyspark.sql import functions as F


@F.udf("string")
def clean(text):
    return text.strip() if text else None


@dp.table
def people():
    return spark.readStream.table("main.raw.events").select("id", clean("name").alias("v"))
