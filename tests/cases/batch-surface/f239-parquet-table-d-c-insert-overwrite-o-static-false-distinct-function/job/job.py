from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
def load(frame, target):
    frame.write.mode("overwrite").option("partitionOverwriteMode", "static").insertInto(target, False)


load(spark.table("staging").dropDuplicates(["id"]), "events")
