# Databricks notebook source
print("levels")

# COMMAND ----------

# MAGIC %sql
# MAGIC CREATE TABLE IF NOT EXISTS main.sales.levels (id INT, name STRING) USING delta;
# MAGIC INSERT INTO main.sales.levels VALUES (1, 'low');
# MAGIC INSERT INTO main.sales.levels VALUES (2, 'high');
