spark.table("main.raw.campaigns").write.mode("overwrite").saveAsTable("main.ingestion.campaign")
