(spark.readStream.option("readChangeData", "true").table("main.crm.customers")
    .writeStream.option("checkpointLocation", "/chk/customers").toTable("main.crm.gold"))
