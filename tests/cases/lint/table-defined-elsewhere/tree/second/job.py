spark.table("main.docs.knowledge").select("title", "guide").write.mode("overwrite").saveAsTable("main.docs.guides")
