from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
spark.sql("SET spark.sql.sources.partitionOverwriteMode").collect()
df = spark.table("staging").drop("v")
df.write.mode("overwrite").saveAsTable("events")
