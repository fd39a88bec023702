from pyspark.sql import SparkSession

from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()

t = spark.readStream.table('events').select('id','k')

(t.writeStream.queryName('t').outputMode('append').trigger(availableNow=True)
    .option('checkpointLocation', '/jobs/checkpoints/t')
    .format('json').option('ignoreNullFields', 'false').start('/jobs/out/t'))
