from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("SET spark.sql.sources.partitionOverwriteMode = dynamic")
spark.sql("ALTER TABLE ice.db.events DROP PARTITION (d = '2024-01-02')")
spark.sql("INSERT INTO ice.db.events SELECT * FROM ice.db.staging")
