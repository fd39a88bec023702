from pyspark import pipelines as dp
from pyspark.sql.functions import *
try:
    from x.rules import keep
except ImportError:
    from y.rules import keep
@dp.table
def t():
    return keep(spark.readStream.table("raw.events")).selectExpr("a AS b")
