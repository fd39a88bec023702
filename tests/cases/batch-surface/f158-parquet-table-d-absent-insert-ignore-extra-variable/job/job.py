from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("staging").withColumn("extra", F.lit(1))
writer = df.write.mode("ignore")
writer.insertInto("events")
