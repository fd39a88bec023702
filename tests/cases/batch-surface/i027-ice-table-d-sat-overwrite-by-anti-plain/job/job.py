from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("ice.db.staging").join(spark.table("ice.db.events"), "id", "left_anti")
df.write.mode("overwrite").partitionBy("d").saveAsTable("ice.db.events")
