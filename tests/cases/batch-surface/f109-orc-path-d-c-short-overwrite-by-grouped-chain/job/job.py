from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.table("staging").groupBy('id', 'c', 'd').agg(F.max("v").alias("v")).select("id", "v", "c", "d").write.mode("overwrite").partitionBy("d", "c").orc("out/events")
