from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def masked():
    return spark.readStream.table("main.raw.events").select("id", F.regexp_replace("name", pattern="b", replacement="a").alias("v"))
