from pyspark.sql import functions as F

prices = spark.range(10).withColumn("price", F.rand())
prices.write.mode("overwrite").saveAsTable("main.sales.prices")
