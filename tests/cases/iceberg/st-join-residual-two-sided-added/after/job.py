from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
spark.conf.set('spark.sql.codegen.factoryMode', 'FALLBACK')
spark.conf.set('spark.sql.codegen.wholeStage', 'true')

e = spark.readStream.table("ice.db.events").alias("e")
c = spark.readStream.table("ice.db.clicks").alias("c")
out = e.join(c, F.expr("e.id = c.id AND e.v <> c.url"), "inner").select(F.col("e.id").alias("eid"), "e.v", "c.url")
q = (out.writeStream.outputMode("append")
     .option("checkpointLocation", "ckpt/q")
     .trigger(availableNow=True).toTable("ice.db.out"))
q.awaitTermination()
