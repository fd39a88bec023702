from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
spark.sql("RESET")
spark.table("ice.db.staging").where("d = '2024-01-02'").write.format("iceberg").mode("overwrite").option("overwrite-mode", "static").saveAsTable("ice.db.events")
