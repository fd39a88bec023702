import datetime
import os
import dlt
import lib
from pyspark.sql import functions as F

@dlt.table
def t():
    return spark.readStream.table("c.s.x").filter(F.col("n") >= lib.limit("a name that is longer than a report would show it in one line of its text", 8)).select("n")
