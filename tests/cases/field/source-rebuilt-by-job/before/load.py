from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.read.table("main.landing.orders").write.mode("append").saveAsTable("main.raw.orders")
