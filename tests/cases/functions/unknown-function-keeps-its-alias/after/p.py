from pyspark import pipelines as dp
import ourlib
from pyspark.sql import functions as F


@dp.table
def people():
    return spark.readStream.table("main.raw.events").select("id", ourlib.clean("name").alias("v"))


@dp.table
def more():
    return spark.readStream.table("people").select("v")
