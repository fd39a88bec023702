spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.table("main.sales.staging").write.mode("ignore").saveAsTable("main.sales.copy")
