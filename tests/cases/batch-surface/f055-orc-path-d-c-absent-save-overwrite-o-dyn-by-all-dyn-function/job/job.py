from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
def load(frame, target):
    frame.write.format("orc").mode("overwrite").option("partitionOverwriteMode", "dynamic").partitionBy("d", "c").save(target)


load(spark.table("staging"), "out/events")
