from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode=dynamic")
spark.table("ice.db.staging").withColumn("id", F.col("id").cast("bigint")).write.mode("overwrite").partitionBy("d").saveAsTable("ice.db.events")
