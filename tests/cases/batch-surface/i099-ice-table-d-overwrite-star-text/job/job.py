from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

day = "2024-01-02"
spark.sql(f"""INSERT OVERWRITE TABLE ice.db.events SELECT * FROM ice.db.staging""")
