from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.table("staging").write.mode("overwrite").partitionBy("d").insertInto("events", overwrite=True)
