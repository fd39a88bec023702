from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

day = "2024-01-02"
spark.sql(f"""SET spark.sql.sources.partitionOverwriteMode = dynamic""")
spark.sql(f"""MERGE INTO events t USING staging s ON t.id = s.id AND t.d = s.d WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *""")
