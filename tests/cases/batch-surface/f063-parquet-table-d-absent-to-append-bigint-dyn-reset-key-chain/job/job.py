from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
spark.sql("RESET spark.sql.sources.partitionOverwriteMode")
spark.table("staging").withColumn("id", F.col("id").cast("bigint")).writeTo("events").append()
