from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.sql("RESET")
df = spark.table("staging").drop("v")
df.write.format("json").mode("overwrite").partitionBy("d", "c").save("out/events")
