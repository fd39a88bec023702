from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

df = spark.table("raw_orders").where("dt = '2024-01-02'")
if not spark.catalog.tableExists("orders"):
    df.write.partitionBy("dt").format("parquet").saveAsTable("orders")
else:
    df.write.mode("overwrite").option("partitionOverwriteMode", "dynamic").insertInto("orders")
