import dlt
from pyspark.sql import functions as F

ORDER = "order_id BIGINT, customer STRING, amount DOUBLE, placed_at STRING"


@dlt.table
def orders():
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", "broker:9092")
        .option("subscribe", "orders")
        .load()
        .select(F.col("value").cast("string").alias("body"))
        .select(F.from_json("body", ORDER).alias("order"))
        .select("order.*")
        .withColumn("placed_at", F.to_timestamp("placed_at", "dd/MM/yyyy HH:mm"))
        .filter("amount > 2")
    )
