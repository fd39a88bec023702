spark.range(10).write.mode("overwrite").format("json").save("/Volumes/main/raw/users")
(spark.read.json("/Volumes/main/raw/users").filter("_rescued_data is not null")
    .write.mode("overwrite").saveAsTable("main.raw.rescued"))
