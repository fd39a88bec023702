from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

last = spark.sql("SELECT max(loaded_until) FROM load_control WHERE table_name = 'orders'").first()[0]
fresh = spark.table("raw_orders").where(F.col("dt") > F.lit(last))
fresh.write.mode("append").insertInto("orders")
newest = fresh.agg(F.max("dt").alias("until")).first()["until"]
if newest is not None:
    spark.sql(f"INSERT INTO load_control VALUES ('orders', DATE'{newest}')")
