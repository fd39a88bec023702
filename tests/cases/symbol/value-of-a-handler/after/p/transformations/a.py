from pyspark import pipelines as dp
from pyspark.sql import functions as F
from pyspark.sql.types import *
try:
    import dlt
except ImportError:
    dlt = None
try:
    from lib import limit
except ImportError:
    limit = 6
@dp.table
def t():
    return spark.readStream.table('raw.e').where(F.col('a') > limit).selectExpr('a AS b')
