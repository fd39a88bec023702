from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.appName("load")
    .config("spark.sql.streaming.checkpointLocation", "/checkpoints")
    .getOrCreate()
)
spark.readStream.table("raw.ev").writeStream.queryName("load").toTable("lake.events")
