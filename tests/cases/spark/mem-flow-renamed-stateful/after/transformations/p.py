from pyspark import pipelines as dp
from pyspark.sql import functions as F

dp.create_streaming_table('t')
@dp.append_flow(target='t', name='f2')
def f2(): return spark.readStream.table('spark_catalog.db.events').dropDuplicates(['id','k'])
