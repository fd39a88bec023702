from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("SET spark.sql.sources.partitionOverwriteMode = dynamic")
spark.sql("DELETE FROM ice.db.events WHERE id IN (SELECT id FROM ice.db.staging)")
spark.sql("INSERT INTO ice.db.events SELECT id, v, d FROM ice.db.staging")
