from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
orders = spark.readStream.table("events").withWatermark("ts", "10 minutes").groupBy(F.window("ts", "1 hour")).count()
orders.writeStream.outputMode("update").option("checkpointLocation", "/cp/orders").toTable("main.sales.orders")
