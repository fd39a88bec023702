# Databricks notebook source
# MAGIC %run ./_setup

# COMMAND ----------

spark.table("main.sales.prices").write.mode("overwrite").saveAsTable("main.sales.report")
