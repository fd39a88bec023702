from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
def load(frame, target):
    frame.write.format("parquet").mode("overwrite").partitionBy("v").saveAsTable(target)


load(spark.table("staging").filter(F.col("d") == F.lit(day).cast("date")), "events")
