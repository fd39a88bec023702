from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
orders = spark.readStream.table("events")
orders.writeStream.outputMode("append").option("checkpointLocation", "/cp/orders_v2").toTable("main.sales.orders")
