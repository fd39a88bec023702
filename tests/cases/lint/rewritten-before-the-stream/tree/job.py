spark.table("main.raw.accounts").write.mode("overwrite").saveAsTable("main.bank.accounts")
(spark.readStream.table("main.bank.accounts").writeStream.format("delta")
    .option("checkpointLocation", "/chk/accounts").toTable("main.bank.copies"))
