from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

day = "2024-01-02"
spark.sql(f"""INSERT INTO parquet.`out/events` REPLACE WHERE d = DATE '{day}' WITH s AS (SELECT * FROM staging WHERE d >= '{day}') SELECT id, v, d FROM s""")
