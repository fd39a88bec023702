import datetime
import os
import dlt
import lib
from pyspark.sql import functions as F

@dlt.table
def t():
    x = spark.readStream.table("c.s.x")
    if lib.region() == "0":
        x = x.withColumn("r", F.lit(0))
    if lib.region() == "1":
        x = x.withColumn("r", F.lit(1))
    if lib.region() == "2":
        x = x.withColumn("r", F.lit(2))
    if lib.region() == "3":
        x = x.withColumn("r", F.lit(3))
    if lib.region() == "4":
        x = x.withColumn("r", F.lit(4))
    if lib.region() == "5":
        x = x.withColumn("r", F.lit(5))
    if lib.region() == "6":
        x = x.withColumn("r", F.lit(6))
    if lib.region() == "7":
        x = x.withColumn("r", F.lit(7))
    if lib.region() == "8":
        x = x.withColumn("r", F.lit(8))
    if lib.region() == "9":
        x = x.withColumn("r", F.lit(9))
    return x.withWatermark("ts", "1 hour").dropDuplicates(["id"])
