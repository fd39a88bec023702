from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.sql("SET spark.sql.sources.partitionOverwriteMode").collect()
df = spark.table("staging").dropDuplicates(["id"])
df.write.mode("append").option("partitionOverwriteMode", "dynamic").partitionBy("d", "c").parquet("out/events")
