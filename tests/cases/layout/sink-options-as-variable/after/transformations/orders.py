from pyspark import pipelines as dp
from pyspark.sql import functions as F

OPTIONS = {"path": "/out"}
dp.create_sink("out", "json", OPTIONS)


@dp.append_flow(target="out", name="send")
def send():
    return spark.readStream.table("events")
