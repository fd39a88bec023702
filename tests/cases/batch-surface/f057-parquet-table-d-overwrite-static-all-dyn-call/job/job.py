from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("SET spark.sql.sources.partitionOverwriteMode = dynamic")
spark.sql("INSERT OVERWRITE TABLE events PARTITION (d = '2024-01-02') SELECT id, v FROM staging")
