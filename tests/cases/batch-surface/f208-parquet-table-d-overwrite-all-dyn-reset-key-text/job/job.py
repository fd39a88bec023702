from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

day = "2024-01-02"
spark.sql(f"""SET spark.sql.sources.partitionOverwriteMode=dynamic""")
spark.sql(f"""RESET spark.sql.sources.partitionOverwriteMode""")
spark.sql(f"""INSERT OVERWRITE events SELECT id, v, d FROM staging""")
