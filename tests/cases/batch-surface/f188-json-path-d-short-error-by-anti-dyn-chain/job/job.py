from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC")
spark.table("staging").join(spark.read.format("json").load("out/events"), "id", "left_anti").write.mode("error").partitionBy("d").json("out/events")
