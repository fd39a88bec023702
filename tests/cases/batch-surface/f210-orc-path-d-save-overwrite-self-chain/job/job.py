from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.read.format("orc").load("out/events").where("d = '2024-01-02'").write.format("orc").mode("overwrite").save("out/events")
