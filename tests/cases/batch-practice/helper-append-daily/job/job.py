from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

def save(df, table, *, mode):
    df.write.mode(mode).insertInto(table)


save(spark.table("raw_orders"), "orders", mode="append")
