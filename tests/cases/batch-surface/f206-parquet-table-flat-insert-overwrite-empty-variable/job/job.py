from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("staging").where("1 = 0")
writer = df.write.mode("overwrite")
writer.insertInto("events")
