from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def orders():
    return (
        spark.readStream.table("main.raw.orders")
        .select("id", "amount")
        .withColumn("amount", F.col("amount").cast("int"))
    )
