from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
day = spark.read.parquet("/data/raw/orders").where("day = DATE'2024-05-02'")
day.write.mode("overwrite").partitionBy("day").parquet("/data/sales/daily")
