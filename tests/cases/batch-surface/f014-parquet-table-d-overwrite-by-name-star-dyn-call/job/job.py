from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("SET spark.sql.sources.partitionOverwriteMode = dynamic")
spark.sql("INSERT OVERWRITE events BY NAME SELECT * FROM staging")
