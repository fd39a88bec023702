from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("CREATE TABLE ice.db.events USING iceberg PARTITIONED BY (d) AS SELECT id, v, d FROM ice.db.staging")
