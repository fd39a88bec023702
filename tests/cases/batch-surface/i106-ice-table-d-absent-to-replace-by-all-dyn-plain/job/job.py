from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
df = spark.table("ice.db.staging")
df.writeTo("ice.db.events").using("iceberg").partitionedBy(F.col("d")).replace()
