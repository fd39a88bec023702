from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
df = spark.table("staging").withColumn("id", F.col("id").cast("bigint"))
df.write.format("parquet").mode("overwrite").partitionBy("d").save("out/events")
