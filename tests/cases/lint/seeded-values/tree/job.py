from pyspark.sql import functions as F

prices = spark.range(10).withColumn("price", F.rand(seed=42)).withColumn("n", F.monotonically_increasing_id())
prices.write.mode("overwrite").saveAsTable("main.sales.prices")
