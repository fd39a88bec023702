from pyspark import pipelines as dp
from pyspark.sql import functions as F

def once(df):
    return df.withWatermark("ts", "10 minutes").dropDuplicates(["id", "ts"])


@dp.table
def orders():
    return once(spark.readStream.table("main.sales.raw_orders"))
