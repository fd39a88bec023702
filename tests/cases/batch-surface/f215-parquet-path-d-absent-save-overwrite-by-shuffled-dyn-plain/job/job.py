from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
df = spark.table("staging").select("d", "v", "id")
df.write.format("parquet").mode("overwrite").partitionBy("d").save("out/events")
