from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.sql("RESET spark.sql.shuffle.partitions")
df = spark.table("staging")
df.write.mode("append").partitionBy("d").saveAsTable("events")
