from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def t():
    return spark.readStream.table("events").withWatermark("ts", "10 minutes").alias("e").filter("e.k = 'a'").join(spark.readStream.table("clicks").withWatermark("cts", "10 minutes").alias("c"), F.expr("e.id = c.id AND e.k = c.k AND cts >= ts AND cts <= ts + INTERVAL 1 HOUR"), "left").select("e.id", "c.url")
