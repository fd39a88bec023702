status = spark.read.json("/Volumes/main/iot/status")
status.withColumn("report", status.id).write.mode("overwrite").format("json").save("/Volumes/main/iot/status")
spark.range(10).write.mode("overwrite").save("/Volumes/main/iot/parts")
