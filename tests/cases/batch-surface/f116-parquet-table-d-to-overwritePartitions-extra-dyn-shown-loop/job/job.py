from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
spark.sql("SET spark.sql.sources.partitionOverwriteMode").collect()
for each in ["2024-01-02", "2024-01-04"]:
    part = spark.table("staging").withColumn("extra", F.lit(1)).where(F.col('d') == each)
    part.writeTo("events").overwritePartitions()
