from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

high = spark.table("orders").agg(F.max("dt")).first()[0]
fresh = spark.table("raw_orders")
if high is not None:
    fresh = fresh.where(F.col("dt") > F.lit(high))
fresh.write.mode("append").insertInto("orders")
