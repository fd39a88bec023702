from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
df = spark.table("ice.db.staging").withColumnRenamed("v", "val")
writer = df.write.mode("overwrite").option("overwrite-mode", "dynamic")
writer.insertInto("ice.db.events")
