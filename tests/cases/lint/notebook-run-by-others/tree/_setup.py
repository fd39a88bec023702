# Databricks notebook source
from pyspark.sql import functions as F

spark.range(10).withColumn("price", F.rand()).write.mode("overwrite").saveAsTable("main.sales.prices")
