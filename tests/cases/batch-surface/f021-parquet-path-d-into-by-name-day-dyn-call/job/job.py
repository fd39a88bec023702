from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("SET spark.sql.sources.partitionOverwriteMode = dynamic")
spark.sql("INSERT INTO parquet.`out/events` BY NAME SELECT id, v, d FROM staging WHERE d = DATE '2024-01-02'")
