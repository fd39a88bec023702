from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("staging").filter(F.col("d") == F.lit(day).cast("date"))
df.write.format("orc").mode("overwrite").saveAsTable("events")
