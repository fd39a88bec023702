from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode=dynamic")
df = spark.table("staging").where(F.col('d') >= '2024-01-02')
df.write.mode("overwrite").partitionBy("d").saveAsTable("events")
