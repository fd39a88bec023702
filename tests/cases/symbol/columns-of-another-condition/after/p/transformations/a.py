from pyspark import pipelines as dp
from pyspark.sql import functions as F
from pyspark.sql.types import *
@dp.table
def t():
    df = spark.readStream.table('raw.e')
    for c in [x for x in df.columns if x.endswith('_at')]:
        df = df.withColumn(c, F.to_timestamp(c))
    return df
