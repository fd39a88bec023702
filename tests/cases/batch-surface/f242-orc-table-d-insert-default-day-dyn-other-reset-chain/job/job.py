from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
spark.sql("RESET spark.sql.shuffle.partitions")
spark.table("staging").where("d = '2024-01-02'").write.insertInto("events")
