from pyspark import pipelines as dp
from pyspark.sql.functions import *
from x.rules import keep
@dp.table
def t():
    return keep(spark.readStream.table("raw.events")).selectExpr("a AS b")
