from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "static")
df = spark.table("staging").dropDuplicates(["id"])
df.writeTo("events").partitionedBy(F.col("d")).replace()
