from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
df = spark.table("ice.db.staging").filter(F.col("d") == F.lit(day).cast("date"))
df.writeTo("ice.db.events").append()
