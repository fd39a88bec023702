from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
df = spark.table("ice.db.staging").select("d", "v", "id")
writer = df.write.format("iceberg").mode("overwrite").options(**{"partitionOverwriteMode": "dynamic"}).partitionBy("d")
writer.saveAsTable("ice.db.events")
