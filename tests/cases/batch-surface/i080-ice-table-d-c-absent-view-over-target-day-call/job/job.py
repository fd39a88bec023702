from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("CREATE OR REPLACE TEMPORARY VIEW old AS SELECT * FROM ice.db.events")
spark.sql("INSERT OVERWRITE ice.db.events SELECT id, v, c, d FROM old WHERE d <> '2024-01-02' UNION ALL SELECT id, v, c, d FROM ice.db.staging")
