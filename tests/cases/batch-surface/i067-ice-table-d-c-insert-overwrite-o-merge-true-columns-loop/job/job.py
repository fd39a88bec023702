from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
for each in ["2024-01-02", "2024-01-04"]:
    part = spark.table("ice.db.staging").select("id", "v", "c", "d").where(F.col('d') == each)
    part.write.mode("overwrite").option("mergeSchema", "true").partitionBy("d", "c").insertInto("ice.db.events", overwrite=True)
