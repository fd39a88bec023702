df = spark.read.csv("/Volumes/main/raw/loans")
df.write.mode("overwrite").saveAsTable("main.sales.loans")
