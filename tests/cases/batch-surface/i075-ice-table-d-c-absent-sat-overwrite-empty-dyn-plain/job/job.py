from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
df = spark.table("ice.db.staging").where("1 = 0")
df.write.format("iceberg").mode("overwrite").saveAsTable("ice.db.events")
