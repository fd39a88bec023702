from pyspark import pipelines as dp
from pyspark.sql import functions as F

@dp.table
def t(): return spark.readStream.name('a').schema('id bigint, k string, v string, amt bigint, price decimal(10,2), ts timestamp').json('/sources/events').select('id','k').union(spark.readStream.name('b').schema('id bigint, k string, v string, amt bigint, price decimal(10,2), ts timestamp').json('/sources/events2').select('id','k'))
