from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.table("ice.db.staging").select("d", "c", "v", "id").write.format("iceberg").saveAsTable("ice.db.events")
