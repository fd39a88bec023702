from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "static")
df = spark.table("staging").filter(F.col("d") == F.lit(day).cast("date"))
df.write.mode("overwrite").partitionBy("d").parquet("out/events")
