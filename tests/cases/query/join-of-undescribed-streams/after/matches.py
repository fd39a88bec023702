from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def matches():
    shown = spark.readStream.table("raw.shown").withWatermark("ts", "1 hour")
    clicked = spark.readStream.table("raw.clicked").withWatermark("cts", "3 hours")
    return shown.join(clicked, F.expr("id = aid AND cts >= ts AND cts <= ts + INTERVAL 1 HOUR"))
