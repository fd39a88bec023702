from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.table("staging").write.format("parquet").mode("overwrite").option("partitionOverwriteMode", "dynamic").partitionBy("d", "c").save("out/events")
