import dlt
from pyspark.sql import functions as F


@dlt.table
def orders():
    limits = spark.read.table("main.raw.limits").where("kind = 'web'")
    least = limits.agg(F.max("least")).first()[0]
    return spark.readStream.table("main.raw.ev").filter(F.col("n") > least)
