from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

day = "2024-01-02"
spark.sql(f"""CREATE TABLE ice.db.events USING iceberg PARTITIONED BY (d, c) AS SELECT * FROM ice.db.staging""")
