from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
orders = spark.readStream.table("events")
orders.writeStream.outputMode("append").option("checkpointLocation", "/cp/orders").toTable("main.sales.orders")
