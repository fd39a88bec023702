from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("staging").withColumn("extra", F.lit(1))
df.write.format("parquet").mode("append").partitionBy("d").save("out/events")
