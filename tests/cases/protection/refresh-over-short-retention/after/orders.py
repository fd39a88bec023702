from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def orders():
    return spark.readStream.format("kafka").option("kafka.bootstrap.servers", "b:9092").option("subscribe", "orders").load().selectExpr("CAST(key AS STRING) AS k", "CAST(value AS STRING) AS v").dropDuplicates(["k", "v"])
