from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("job").getOrCreate()

spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
df = spark.table("raw_orders").where("dt = '2024-01-02'")
df.write.mode("overwrite").insertInto("orders")
log = spark.createDataFrame([("orders", df.count())], "table_name STRING, loaded BIGINT").withColumn("at", F.current_timestamp())
log.write.mode("append").insertInto("job_log")
