from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
def load(frame, target):
    frame.write.format("orc").mode("overwrite").save(target)


load(spark.table("staging").withColumnRenamed("v", "val"), "out/events")
