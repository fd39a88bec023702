from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("staging")
writer = df.write.format("orc").mode("append").partitionBy("d")
writer.save("out/events")
