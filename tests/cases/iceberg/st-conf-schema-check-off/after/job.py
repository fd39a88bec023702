from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
spark.conf.set('spark.sql.streaming.stateStore.stateSchemaCheck', 'false')

events = spark.readStream.table("ice.db.events")
out = events.dropDuplicates(["id", "k", "v"]).select("id", "k", "v")
q = (out.writeStream.outputMode("append")
     .option("checkpointLocation", "ckpt/q")
     .trigger(availableNow=True).toTable("ice.db.out"))
q.awaitTermination()
