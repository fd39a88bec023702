from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def orders():
    return spark.readStream.name("a").schema("id BIGINT, amount BIGINT").json("/sources/a")
