from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
for each in ["2024-01-02", "2024-01-04"]:
    part = spark.table("staging").withColumn("id", F.col("id").cast("bigint")).where(F.col('d') == each)
    part.write.mode("overwrite").insertInto("events", overwrite=True)
