# Databricks notebook source
from pyspark import pipelines as dp

# COMMAND ----------

# MAGIC %sql
# MAGIC CREATE OR REFRESH STREAMING TABLE orders AS
# MAGIC SELECT id, amount FROM STREAM(main.raw.orders);
# MAGIC 
# MAGIC CREATE FLOW orders_from_returns AS
# MAGIC INSERT INTO orders BY NAME
# MAGIC SELECT id, amount FROM STREAM(main.raw.returns);

# COMMAND ----------

@dp.table
def copies():
    return spark.readStream.table("main.raw.returns").selectExpr("id", "amount", "amount AS total")


@dp.temporary_view(name="copies_current")
def copies_current():
    table = spark.read.table("copies")
    return table.selectExpr("*", "coalesce(total, amount) AS united").drop("total", "amount").withColumnRenamed("united", "total")
