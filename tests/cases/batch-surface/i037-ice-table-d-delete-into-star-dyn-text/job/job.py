from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

day = "2024-01-02"
spark.sql(f"""SET spark.sql.sources.partitionOverwriteMode = dynamic""")
spark.sql(f"""DELETE FROM ice.db.events WHERE d = '{day}'""")
spark.sql(f"""INSERT INTO ice.db.events SELECT * FROM ice.db.staging""")
