from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
def load(frame, target):
    frame.write.format("parquet").partitionBy("d").save(target)


load(spark.table("staging").withColumn("id", F.col("id").cast("bigint")), "out/events")
