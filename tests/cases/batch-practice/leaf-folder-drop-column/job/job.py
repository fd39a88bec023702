from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

day = "2024-01-02"
df = spark.table("raw_orders").where(F.col("dt") == day).drop("dt")
df.coalesce(1).write.mode("overwrite").parquet("lake/orders/dt=" + day)
