# Databricks notebook source
from pyspark import pipelines as dp

# COMMAND ----------

# MAGIC %sql
# MAGIC CREATE OR REFRESH STREAMING TABLE orders AS
# MAGIC SELECT id, amount FROM STREAM(main.raw.orders)

# COMMAND ----------

@dp.table
def copies():
    return spark.readStream.table("main.raw.returns").select("id", "amount")
