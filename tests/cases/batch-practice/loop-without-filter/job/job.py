from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

for day in ["2024-01-02", "2024-01-03"]:
    print(f"loading {day}")
    df = spark.table("raw_orders")
    df.write.mode("append").insertInto("orders")
