from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

import sys

day = sys.argv[1]
df = spark.table("raw_orders").where(F.col("dt") == day)
df.write.mode("overwrite").partitionBy("dt").saveAsTable("orders")
