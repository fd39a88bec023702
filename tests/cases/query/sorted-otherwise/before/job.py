from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
orders = spark.readStream.table("events").groupBy("customer").count().orderBy("count")
orders.writeStream.outputMode("complete").option("checkpointLocation", "/cp/orders").toTable("main.sales.orders")
