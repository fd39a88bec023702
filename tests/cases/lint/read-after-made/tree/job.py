spark.range(10).write.mode("overwrite").format("json").save("/Volumes/main/iot/parts")
parts = spark.read.json("/Volumes/main/iot/parts")
parts.select("part_id").write.mode("overwrite").saveAsTable("main.iot.parts")
spark.range(3).write.mode("overwrite").saveAsTable("main.iot.levels")
