from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
for each in ["2024-01-02", "2024-01-04"]:
    part = spark.table("ice.db.staging").withColumn("extra", F.lit(1)).where(F.col('d') == each)
    part.write.format("iceberg").mode("overwrite").option("overwrite-mode", "dynamic").saveAsTable("ice.db.events")
