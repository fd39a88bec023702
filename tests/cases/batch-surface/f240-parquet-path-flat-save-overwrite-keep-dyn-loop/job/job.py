from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
for each in ["2024-01-02", "2024-01-04"]:
    part = spark.read.format("parquet").load("out/events").where("d <> '2024-01-02'").unionByName(spark.table("staging").where("d = '2024-01-02'")).where(F.col('d') == each)
    part.write.format("parquet").mode("overwrite").save("out/events")
