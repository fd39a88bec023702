from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.sql("RESET")
df = spark.table("staging").groupBy('id', 'c', 'd').agg(F.max("v").alias("v")).select("id", "v", "c", "d")
writer = df.write.format("parquet").mode("overwrite").option("mergeSchema", "true")
writer.save("out/events")
