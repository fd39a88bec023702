from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

day = "2024-01-02"
spark.sql(f"""TRUNCATE TABLE events PARTITION (d = '{day}')""")
spark.sql(f"""INSERT INTO events SELECT * FROM staging""")
