import datetime
import os
import dlt
import lib
from pyspark.sql import functions as F

@dlt.table
def t():
    return spark.readStream.table("c.s.x").filter(F.col("n") >= lib.limit(days=8)).select("n")
