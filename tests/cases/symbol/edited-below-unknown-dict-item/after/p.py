import datetime
import os
import dlt
import lib
from pyspark.sql import functions as F

@dlt.table
def t():
    return spark.readStream.table("c.s.x").filter(F.col("n") >= {"dev": 1, "prod": 8}[os.environ["ENV"]]).select("n")
