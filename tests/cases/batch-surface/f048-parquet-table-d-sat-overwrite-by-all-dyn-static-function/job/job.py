from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "static")
def load(frame, target):
    frame.write.mode("overwrite").partitionBy("d").saveAsTable(target)


load(spark.table("staging"), "events")
