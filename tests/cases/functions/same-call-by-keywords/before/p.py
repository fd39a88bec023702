from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def a():
    return spark.readStream.table("main.raw.events").select("id", F.regexp_replace("name", "a", "b").alias("v"))


@dp.table
def b():
    return spark.readStream.table("main.raw.events").select("id", F.split("name", ",").alias("v"))


@dp.table
def c():
    return spark.readStream.table("main.raw.events").select("id", F.round("amount", 2).alias("v"))


@dp.table
def d():
    return spark.readStream.table("main.raw.events").select("id", F.make_interval(F.lit(0), F.lit(0), F.lit(0), F.lit(7)).alias("v"))


@dp.table
def e():
    return spark.readStream.table("main.raw.events").select("id", F.lpad("name", 5, "x").alias("v"))


@dp.table
def f():
    return spark.readStream.table("main.raw.events").select("id", F.months_between("ts", F.current_timestamp()).alias("v"))
