from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("INSERT OVERWRITE TABLE events PARTITION (d, c) SELECT id, v, c, d FROM staging s WHERE NOT EXISTS (SELECT 1 FROM events t WHERE t.id = s.id)")
