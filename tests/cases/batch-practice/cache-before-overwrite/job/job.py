from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

current = spark.table("orders")
updated = current.where("dt <> '2024-01-02'").unionByName(spark.table("raw_orders"))
updated.cache()
updated.count()
updated.write.mode("overwrite").insertInto("orders")
