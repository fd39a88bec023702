from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
df = spark.table("staging").select("id", "v", "d")
df.write.format("parquet").mode("append").partitionBy("d").saveAsTable("events")
