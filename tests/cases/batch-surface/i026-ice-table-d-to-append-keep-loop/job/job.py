from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
for each in ["2024-01-02", "2024-01-04"]:
    part = spark.table("ice.db.events").where("d <> '2024-01-02'").unionByName(spark.table("ice.db.staging").where("d = '2024-01-02'")).where(F.col('d') == each)
    part.writeTo("ice.db.events").append()
