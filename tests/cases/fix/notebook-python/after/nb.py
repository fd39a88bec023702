# Databricks notebook source
from pyspark import pipelines as dp

# COMMAND ----------

# MAGIC %sql
# MAGIC CREATE OR REFRESH STREAMING TABLE orders AS
# MAGIC SELECT id, amount FROM STREAM(main.raw.orders)
# MAGIC UNION ALL
# MAGIC SELECT id, amount FROM STREAM(main.raw.returns)

# COMMAND ----------

@dp.table
def copies():
    return spark.readStream.table("main.raw.returns").selectExpr("id", "amount AS total")
