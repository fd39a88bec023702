from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
def load(frame, target):
    frame.write.format("iceberg").mode("append").partitionBy("d").save(target)


load(spark.table("ice.db.staging").drop("v"), "ice.db.events")
