from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

spark.sql("INSERT INTO events REPLACE USING (d) SELECT * FROM staging")
