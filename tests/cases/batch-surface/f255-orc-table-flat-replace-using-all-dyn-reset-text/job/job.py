from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

day = "2024-01-02"
spark.sql(f"""SET spark.sql.sources.partitionOverwriteMode=dynamic""")
spark.sql(f"""RESET""")
spark.sql(f"""INSERT INTO events REPLACE USING (d) SELECT id, v, d FROM staging""")
