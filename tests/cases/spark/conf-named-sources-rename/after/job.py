from pyspark.sql import SparkSession

from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
spark.conf.set('spark.sql.streaming.queryEvolution.enableSourceEvolution', 'true')

t = spark.readStream.name('z').schema('id bigint, k string, v string, amt bigint, price decimal(10,2), ts timestamp').json('/sources/events').select('id','k')

(t.writeStream.queryName('t').outputMode('append').trigger(availableNow=True)
    .option('checkpointLocation', '/jobs/checkpoints/t')
    .format('json').option('ignoreNullFields', 'false').start('/jobs/out/t'))
