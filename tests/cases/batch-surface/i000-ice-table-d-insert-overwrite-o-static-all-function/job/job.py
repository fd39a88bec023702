from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
def load(frame, target):
    frame.write.mode("overwrite").option("overwrite-mode", "static").insertInto(target)


load(spark.table("ice.db.staging"), "ice.db.events")
