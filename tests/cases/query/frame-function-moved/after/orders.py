from pyspark import pipelines as dp
from pyspark.sql import functions as F

def tidy(frames):
    for frame in frames:
        yield frame[["id"]].dropna()


def clean(frames):
    for frame in frames:
        yield frame[["id"]]


@dp.table
def orders():
    return spark.readStream.table("main.sales.raw_orders").mapInPandas(clean, "id long")
