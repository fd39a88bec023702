from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

snapshot_day = "2024-01-04"
snap = spark.table("raw_orders").drop("dt").withColumn("dt", F.lit(snapshot_day).cast("date"))
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
snap.write.mode("overwrite").insertInto("orders")
