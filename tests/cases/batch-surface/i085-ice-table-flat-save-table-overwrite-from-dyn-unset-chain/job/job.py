from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
spark.table("ice.db.staging").where(F.col('d') >= '2024-01-02').write.format("iceberg").mode("overwrite").save("ice.db.events")
