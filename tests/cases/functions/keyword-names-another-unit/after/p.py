from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def due():
    return spark.readStream.table("main.raw.events").select("id", (F.col("ts") + F.make_interval(hours=F.lit(7))).alias("v"))
