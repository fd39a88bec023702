from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

day = "2024-01-02"
spark.sql(f"ALTER TABLE orders DROP IF EXISTS PARTITION (dt='{day}')")
spark.table("raw_orders").where(F.col("dt") == day).write.mode("append").insertInto("orders")
