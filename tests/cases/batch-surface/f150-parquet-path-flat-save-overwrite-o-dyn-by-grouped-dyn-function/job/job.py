from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
def load(frame, target):
    frame.write.format("parquet").mode("overwrite").option("partitionOverwriteMode", "dynamic").partitionBy("d").save(target)


load(spark.table("staging").groupBy('id', 'd').agg(F.max("v").alias("v")).select("id", "v", "d"), "out/events")
