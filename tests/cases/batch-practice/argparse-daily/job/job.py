from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--day", default="2024-01-02")
parser.add_argument("--full", action="store_true")
args = parser.parse_args()

df = spark.table("raw_orders")
if args.full:
    df.write.mode("overwrite").partitionBy("dt").saveAsTable("orders")
else:
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    df.where(F.col("dt") == args.day).write.mode("overwrite").insertInto("orders")
