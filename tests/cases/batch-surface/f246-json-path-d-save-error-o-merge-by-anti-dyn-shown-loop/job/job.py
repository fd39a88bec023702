from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.sql("SET spark.sql.sources.partitionOverwriteMode").collect()
for each in ["2024-01-02", "2024-01-04"]:
    part = spark.table("staging").join(spark.read.format("json").load("out/events"), "id", "left_anti").where(F.col('d') == each)
    part.write.format("json").mode("error").option("mergeSchema", "true").partitionBy("d").save("out/events")
