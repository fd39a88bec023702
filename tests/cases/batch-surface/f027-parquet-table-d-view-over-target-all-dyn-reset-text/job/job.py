from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

day = "2024-01-02"
spark.sql(f"""SET spark.sql.sources.partitionOverwriteMode=dynamic""")
spark.sql(f"""RESET""")
spark.sql(f"""CREATE OR REPLACE TEMPORARY VIEW old AS SELECT * FROM events""")
spark.sql(f"""INSERT OVERWRITE events SELECT id, v, d FROM old WHERE d <> '{day}' UNION ALL SELECT id, v, d FROM staging""")
