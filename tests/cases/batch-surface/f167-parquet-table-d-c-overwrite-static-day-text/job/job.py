from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

day = "2024-01-02"
spark.sql(f"""INSERT OVERWRITE TABLE events PARTITION (d = '{day}', c) SELECT id, v, c FROM staging WHERE d = DATE '{day}'""")
