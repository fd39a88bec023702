from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode=dynamic")
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "static")
df = spark.table("staging")
df.write.format("parquet").mode("overwrite").save("out/events")
