from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.readStream.table("raw.ev").writeStream.queryName("load").option("checkpointLocation", "/chk/load").toTable("lake.events")
