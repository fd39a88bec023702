from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
df = spark.table("staging")
df.write.format("parquet").mode("append").partitionBy("d").saveAsTable("events")
