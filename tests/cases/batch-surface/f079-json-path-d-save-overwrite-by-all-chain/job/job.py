from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.table("staging").write.format("json").mode("overwrite").partitionBy("d").save("out/events")
