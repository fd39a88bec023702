from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.sql("RESET spark.sql.sources.partitionOverwriteMode")
df = spark.table("staging")
writer = df.write.mode("overwrite")
writer.insertInto("events")
