from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
df = spark.table("staging").where(F.col('d') >= '2024-01-02')
df.write.format("parquet").mode("overwrite").partitionBy("d").bucketBy(2, "id").saveAsTable("events")
