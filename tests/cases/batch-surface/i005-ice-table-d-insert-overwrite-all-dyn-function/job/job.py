from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
def load(frame, target):
    frame.write.mode("overwrite").insertInto(target)


load(spark.table("ice.db.staging"), "ice.db.events")
