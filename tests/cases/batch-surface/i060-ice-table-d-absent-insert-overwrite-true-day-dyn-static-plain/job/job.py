from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "static")
df = spark.table("ice.db.staging").where("d = '2024-01-02'")
df.write.mode("overwrite").insertInto("ice.db.events", overwrite=True)
