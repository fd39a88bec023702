from pyspark import pipelines as dp
from pyspark.sql import functions as F


# Reviewed.
@dp.table
def a():
    return spark.readStream.table("main.raw.events").select("id", F.repeat(F.col("name"), F.lit(2)).alias("v"))


@dp.table
def b():
    return spark.readStream.table("main.raw.events").select("id", F.timestamp_diff("DAY", F.col("ts"), F.current_timestamp()).alias("v"))


@dp.table
def c():
    return spark.readStream.table("main.raw.events").select("id", F.array_join(F.array(F.col("name"), F.col("name")), ",").alias("v"))
