from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode=dynamic")
spark.sql("RESET")
df = spark.table("staging")
df.writeTo("events").overwrite(F.col("d") == "2024-01-02")
