from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("SET spark.sql.sources.partitionOverwriteMode = dynamic")
spark.sql("INSERT OVERWRITE events SELECT id, v, d FROM staging WHERE d > (SELECT max(d) FROM events)")
