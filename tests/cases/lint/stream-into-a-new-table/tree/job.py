(spark.readStream.table("main.raw.documents").writeStream.format("delta")
    .option("checkpointLocation", "/chk/documents").trigger(availableNow=True).toTable("main.sales.documents"))
