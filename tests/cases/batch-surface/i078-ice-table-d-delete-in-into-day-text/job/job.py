from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

day = "2024-01-02"
spark.sql(f"""DELETE FROM ice.db.events WHERE d IN (SELECT d FROM ice.db.staging)""")
spark.sql(f"""INSERT INTO ice.db.events SELECT id, v, d FROM ice.db.staging WHERE d = DATE '{day}'""")
