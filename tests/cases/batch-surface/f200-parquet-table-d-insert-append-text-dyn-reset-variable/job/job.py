from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.sql("RESET")
df = spark.table("staging").withColumn("id", F.col("id").cast("string"))
writer = df.write.mode("append")
writer.insertInto("events")
