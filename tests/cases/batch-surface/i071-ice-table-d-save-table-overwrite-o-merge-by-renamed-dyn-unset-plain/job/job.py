from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode=dynamic")
spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
df = spark.table("ice.db.staging").withColumnRenamed("v", "val")
df.write.format("iceberg").mode("overwrite").option("mergeSchema", "true").partitionBy("d").save("ice.db.events")
