from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode=dynamic")
spark.sql("RESET spark.sql.sources.partitionOverwriteMode")
def load(frame, target):
    frame.write.format("parquet").mode("overwrite").option("partitionOverwriteMode", "dynamic").save(target)


load(spark.table("staging").withColumnRenamed("v", "val"), "out/events")
