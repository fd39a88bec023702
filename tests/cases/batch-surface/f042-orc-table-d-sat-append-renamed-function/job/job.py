from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
def load(frame, target):
    frame.write.format("orc").mode("append").saveAsTable(target)


load(spark.table("staging").withColumnRenamed("v", "val"), "events")
