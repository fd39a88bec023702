from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("SET spark.sql.sources.partitionOverwriteMode = dynamic")
spark.sql("DROP TABLE IF EXISTS events")
spark.sql("CREATE TABLE events USING parquet PARTITIONED BY (d, c) AS SELECT id, v, c, d FROM staging")
