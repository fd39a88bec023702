from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("ice.db.events").where("d <> '2024-01-02'").unionByName(spark.table("ice.db.staging").where("d = '2024-01-02'"))
df.writeTo("ice.db.events").overwrite(F.col("d") == "2024-01-02")
