from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.conf.set("spark.sql.streaming.checkpointLocation", "/chk/")
spark.readStream.table("raw.ev").writeStream.queryName("load").toTable("lake.events")
