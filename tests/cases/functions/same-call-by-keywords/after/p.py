from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def a():
    return spark.readStream.table("main.raw.events").select("id", F.regexp_replace(replacement="b", pattern="a", string="name").alias("v"))


@dp.table
def b():
    return spark.readStream.table("main.raw.events").select("id", F.split("name", ",", -1).alias("v"))


@dp.table
def c():
    return spark.readStream.table("main.raw.events").select("id", F.round(scale=2, col="amount").alias("v"))


@dp.table
def d():
    return spark.readStream.table("main.raw.events").select("id", F.make_interval(days=F.lit(7)).alias("v"))


@dp.table
def e():
    return spark.readStream.table("main.raw.events").select("id", F.lpad(pad="x", col="name", len=5).alias("v"))


@dp.table
def f():
    return spark.readStream.table("main.raw.events").select("id", F.months_between("ts", F.current_timestamp(), roundOff=True).alias("v"))
