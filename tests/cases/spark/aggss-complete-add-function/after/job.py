from pyspark.sql import SparkSession

from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()

q = spark.readStream.table('events').groupBy('k').agg(F.sum('amt').alias('s'), F.max('amt').alias('m'))

(q.writeStream.queryName('q').outputMode('complete').trigger(availableNow=True)
    .option('checkpointLocation', '/jobs/checkpoints/q')
    .toTable('mem.db.q'))
