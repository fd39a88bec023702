from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

path = "lake/orders"
merged = spark.read.parquet(path).unionByName(spark.table("raw_orders")).dropDuplicates(["id"]).localCheckpoint()
merged.write.mode("overwrite").partitionBy("dt").parquet(path)
