from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table(comment="Payments, without the repeats of the gateway")
def payments():
    return (
        spark.readStream.table("main.landing.payments")
        .withWatermark("paid_at", "10 minutes")
        .dropDuplicates(["order_id"])
        .select("payment_id", "order_id", "method", "amount", "paid_at")
    )


@dp.table(comment="Revenue by the hour")
def revenue_hourly():
    return (
        spark.readStream.table("payments")
        .withWatermark("paid_at", "10 minutes")
        .groupBy(F.window("paid_at", "1 hour"))
        .agg(F.sum("amount").alias("revenue"))
        .select(F.col("window.start").alias("hour"), "revenue")
    )


@dp.table(comment="What the fraud team reads")
def payments_for_fraud():
    return spark.readStream.table("payments").select("payment_id", "method", "amount")
