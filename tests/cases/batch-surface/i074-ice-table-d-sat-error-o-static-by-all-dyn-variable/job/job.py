from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
df = spark.table("ice.db.staging")
writer = df.write.format("iceberg").mode("error").option("overwrite-mode", "static").partitionBy("d")
writer.saveAsTable("ice.db.events")
