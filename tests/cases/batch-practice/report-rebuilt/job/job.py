from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

report = spark.table("raw_orders").groupBy("dt").agg(F.min("id").alias("id"), F.sum("amount").alias("amount"))
report.write.mode("overwrite").format("parquet").saveAsTable("daily_report")
