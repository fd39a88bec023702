from pyspark import pipelines as dp
from pyspark.sql import functions as F

dp.create_sink("out", "json", {"path": "/out"})


@dp.append_flow(target="out", name="send")
def send():
    return spark.readStream.table("events").select("id", "amount")
