from pyspark.sql import SparkSession

from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()

q = spark.readStream.table('events').withWatermark('ts', '10 minutes').groupBy(F.window('ts','10 minutes'),'k').agg(F.sum('amt').alias('s'))

(q.writeStream.queryName('q').outputMode('update').trigger(availableNow=True)
    .option('checkpointLocation', '/jobs/checkpoints/q')
    .toTable('mem.db.q'))
