from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

daily = spark.table("raw_orders").where(F.col("dt") == "2024-01-02")
out = daily.write.format("parquet").mode("overwrite")
out = out.partitionBy("dt")
out.saveAsTable("orders")
