from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

import os

day = os.environ.get("LOAD_DAY", "2024-01-02")
df = spark.table("raw_orders").where(F.col("dt") == day)
df.write.mode("overwrite").parquet(f"lake/orders/dt={day}")
