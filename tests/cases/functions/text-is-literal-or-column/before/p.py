from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def a():
    return spark.readStream.table("main.raw.events").select("id", F.repeat("name", F.lit(2)).alias("v"))


@dp.table
def b():
    return spark.readStream.table("main.raw.events").select("id", F.timestamp_diff("DAY", "ts", F.current_timestamp()).alias("v"))


@dp.table
def c():
    return spark.readStream.table("main.raw.events").select("id", F.array_join(F.array("name", "name"), ",").alias("v"))
