from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

day = "2024-01-02"
spark.sql(f"""SET spark.sql.sources.partitionOverwriteMode = dynamic""")
spark.sql(f"""INSERT OVERWRITE TABLE events PARTITION (d = '') SELECT id, v FROM staging WHERE d = DATE '{day}'""")
