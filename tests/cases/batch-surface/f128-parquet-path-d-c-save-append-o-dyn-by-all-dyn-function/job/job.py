from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode=dynamic")
def load(frame, target):
    frame.write.format("parquet").mode("append").option("partitionOverwriteMode", "dynamic").partitionBy("d", "c").save(target)


load(spark.table("staging"), "out/events")
