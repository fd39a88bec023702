from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

from pyspark import StorageLevel

path = "lake/orders"
old = spark.read.parquet(path)
new = spark.table("raw_orders")
merged = old.join(new, "id", "left_anti").unionByName(new).persist(StorageLevel.MEMORY_AND_DISK)
merged.count()
merged.write.mode("overwrite").partitionBy("dt").parquet(path)
merged.unpersist()
