from pyspark import pipelines as dp
from pyspark.sql import functions as F

@dp.table
def t(): return spark.readStream.option('modifiedAfter','2999-01-01T00:00:00').schema('id bigint, k string, v string, amt bigint, price decimal(10,2), ts timestamp').json('/sources/events').select('id','k','amt')
