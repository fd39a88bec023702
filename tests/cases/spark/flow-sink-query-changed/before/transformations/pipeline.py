from pyspark import pipelines as dp
from pyspark.sql import functions as F

@dp.table
def t(): return spark.readStream.table('events').select('id')
dp.create_sink('s', 'json', {'path': '/pipelines/out'})
@dp.append_flow(target='s', name='f1')
def f1(): return spark.readStream.table('events').select('id','k','amt')
