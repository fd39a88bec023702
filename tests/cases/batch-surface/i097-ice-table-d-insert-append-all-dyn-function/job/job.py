from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode=dynamic")
def load(frame, target):
    frame.write.mode("append").insertInto(target)


load(spark.table("ice.db.staging"), "ice.db.events")
