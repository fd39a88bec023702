from contextlib import contextmanager

from pyspark.sql import SparkSession


@contextmanager
def session(name):
    spark = SparkSession.builder.appName(name).getOrCreate()
    try:
        yield spark
    finally:
        print("done")


with session("daily") as s:
    df = s.table("raw_orders").where("dt = '2024-01-02'")
    df.write.mode("overwrite").partitionBy("dt").saveAsTable("orders")
