from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
df = spark.table("ice.db.staging")
df.writeTo("ice.db.events").overwrite(F.col("d") == "2024-01-02")
