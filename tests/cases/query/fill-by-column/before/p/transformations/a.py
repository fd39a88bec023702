from pyspark import pipelines as dp
from pyspark.sql import functions as F
from pyspark.sql.types import *
@dp.table
def t():
    df = spark.readStream.table('raw.e')
    df = df.na.fill({'a': 0})
    return df
