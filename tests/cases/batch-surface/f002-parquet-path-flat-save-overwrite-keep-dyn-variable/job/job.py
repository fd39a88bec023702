from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
df = spark.read.format("parquet").load("out/events").where("d <> '2024-01-02'").unionByName(spark.table("staging").where("d = '2024-01-02'"))
writer = df.write.format("parquet").mode("overwrite")
writer.save("out/events")
