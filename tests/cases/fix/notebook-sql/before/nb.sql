-- Databricks notebook source
-- MAGIC %md
-- MAGIC Orders

-- COMMAND ----------

CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, amount FROM STREAM(main.raw.orders)

-- COMMAND ----------

CREATE OR REFRESH STREAMING TABLE returns AS
SELECT id FROM STREAM(main.raw.returns)
