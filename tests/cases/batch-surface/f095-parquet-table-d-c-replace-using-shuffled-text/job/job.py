from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

day = "2024-01-02"
spark.sql(f"""INSERT INTO events REPLACE USING (d) SELECT d, c, v, id FROM staging""")
