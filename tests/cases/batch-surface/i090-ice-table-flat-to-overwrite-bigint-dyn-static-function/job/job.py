from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "static")
def load(frame, target):
    frame.writeTo(target).overwrite(F.col("d") == "2024-01-02")


load(spark.table("ice.db.staging").withColumn("id", F.col("id").cast("bigint")), "ice.db.events")
