from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

known = spark.table("orders").select("id")
spark.table("raw_orders").join(known, on="id", how="left_anti").select("id", "customer", "amount", "dt").write.mode("append").insertInto("orders")
