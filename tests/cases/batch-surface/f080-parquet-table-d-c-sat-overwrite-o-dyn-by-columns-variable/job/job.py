from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("staging").select("id", "v", "c", "d")
writer = df.write.format("parquet").mode("overwrite").option("partitionOverwriteMode", "dynamic").partitionBy("d", "c")
writer.saveAsTable("events")
