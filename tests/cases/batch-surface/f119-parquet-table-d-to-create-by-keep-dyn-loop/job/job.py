from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
for each in ["2024-01-02", "2024-01-04"]:
    part = spark.table("events").where("d <> '2024-01-02'").unionByName(spark.table("staging").where("d = '2024-01-02'")).where(F.col('d') == each)
    part.writeTo("events").partitionedBy(F.col("d")).create()
