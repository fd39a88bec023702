from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.table
def bronze():
    return spark.readStream.table("main.raw.orders").withColumnRenamed("amount", "total")


@dp.table
def silver():
    countries = spark.read.table("main.raw.countries")
    return spark.readStream.table("bronze").join(countries, "country", "left").withColumn("double", F.col("amount") * 2)


@dp.materialized_view
def gold():
    return spark.read.table("silver").groupBy("region").agg(F.sum("double").alias("total"))
