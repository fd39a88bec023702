from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("staging")
writer = df.write.format("parquet").mode("overwrite")
writer.save("out/events")
