from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

day = "2024-01-02"
spark.sql(f"""ALTER TABLE events DROP IF EXISTS PARTITION (d = '{day}')""")
spark.sql(f"""INSERT INTO events SELECT d, v, id FROM staging""")
