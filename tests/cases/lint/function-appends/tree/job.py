def write(batch, number):
    batch.write.mode("append").saveAsTable("main.sales.orders")

(spark.readStream.table("main.sales.staging").writeStream
    .foreachBatch(write).option("checkpointLocation", "/chk/orders").trigger(availableNow=True).start())
