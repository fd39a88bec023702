from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.table("staging").filter(F.col("d") == F.lit(day).cast("date")).write.format("parquet").mode("error").save("out/events")
