from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

day = "2024-01-02"
spark.sql(f"""SET spark.sql.sources.partitionOverwriteMode = dynamic""")
spark.sql(f"""DELETE FROM events WHERE id IN (SELECT id FROM staging)""")
spark.sql(f"""INSERT INTO events SELECT id, v, c, d FROM staging WHERE d = DATE '{day}'""")
