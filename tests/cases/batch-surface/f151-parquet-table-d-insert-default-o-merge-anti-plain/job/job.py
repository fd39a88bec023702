from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
df = spark.table("staging").join(spark.table("events"), "id", "left_anti")
df.write.option("mergeSchema", "true").insertInto("events")
