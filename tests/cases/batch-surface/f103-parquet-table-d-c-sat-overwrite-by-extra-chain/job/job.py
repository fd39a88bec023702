from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.table("staging").withColumn("extra", F.lit(1)).write.format("parquet").mode("overwrite").partitionBy("d", "c").saveAsTable("events")
