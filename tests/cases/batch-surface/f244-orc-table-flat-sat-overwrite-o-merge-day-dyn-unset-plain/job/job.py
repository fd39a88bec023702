from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
df = spark.table("staging").where("d = '2024-01-02'")
df.write.format("orc").mode("overwrite").option("mergeSchema", "true").saveAsTable("events")
