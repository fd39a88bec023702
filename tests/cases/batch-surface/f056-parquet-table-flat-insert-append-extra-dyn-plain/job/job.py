from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
df = spark.table("staging").withColumn("extra", F.lit(1))
df.write.mode("append").insertInto("events")
