spark.table("knowledge").select("title", "guide").write.mode("overwrite").saveAsTable("guides")
