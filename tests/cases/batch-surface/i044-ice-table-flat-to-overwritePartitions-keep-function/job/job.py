from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
def load(frame, target):
    frame.writeTo(target).overwritePartitions()


load(spark.table("ice.db.events").where("d <> '2024-01-02'").unionByName(spark.table("ice.db.staging").where("d = '2024-01-02'")), "ice.db.events")
