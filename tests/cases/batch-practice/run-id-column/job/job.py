from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

import uuid

run = str(uuid.uuid4())
spark.table("raw_orders").withColumn("customer", F.lit(run)).write.mode("append").insertInto("orders")
