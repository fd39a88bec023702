from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
df = spark.table("events").where("d <> '2024-01-02'").unionByName(spark.table("staging").where("d = '2024-01-02'"))
df.write.mode("overwrite").option("partitionOverwriteMode", "dynamic").partitionBy("d", "c").saveAsTable("events")
