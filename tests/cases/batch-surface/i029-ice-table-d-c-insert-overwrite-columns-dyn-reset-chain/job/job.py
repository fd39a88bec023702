from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.sql("RESET")
spark.table("ice.db.staging").select("id", "v", "c", "d").write.mode("overwrite").insertInto("ice.db.events")
