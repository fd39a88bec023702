from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
day = "2024-01-02"
spark.sql("SET spark.sql.sources.partitionOverwriteMode=dynamic")
def load(frame, target):
    frame.write.format("iceberg").mode("overwrite").options(**{"overwrite-mode": "dynamic"}).partitionBy("d").save(target)


load(spark.table("ice.db.staging").withColumnRenamed("v", "val"), "ice.db.events")
