from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

from datetime import date, timedelta

spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
start = date(2024, 1, 2)
for offset in range(2):
    day = start + timedelta(days=offset)
    df = spark.table("raw_orders").where(F.col("dt") == F.lit(day))
    df.write.mode("overwrite").insertInto("orders")
