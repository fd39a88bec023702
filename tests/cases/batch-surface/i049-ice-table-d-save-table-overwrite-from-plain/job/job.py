from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("ice.db.staging").where(F.col('d') >= '2024-01-02')
df.write.format("iceberg").mode("overwrite").save("ice.db.events")
