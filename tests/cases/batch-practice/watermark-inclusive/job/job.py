from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

high = spark.sql("SELECT max(dt) AS high FROM orders").collect()[0]["high"]
spark.table("raw_orders").where(F.col("dt") >= high).write.insertInto("orders")
