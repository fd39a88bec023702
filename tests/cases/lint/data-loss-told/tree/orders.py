from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table(table_properties={"pipelines.reset.allowed": "false"})
def orders():
    messages = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", "broker:9092")
        .option("subscribe", "orders")
        .option("failOnDataLoss", "true")
        .load()
    )
    return messages.select("key", "value", "timestamp")
