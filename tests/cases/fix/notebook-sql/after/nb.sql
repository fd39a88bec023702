-- Databricks notebook source
-- MAGIC %md
-- MAGIC Orders

-- COMMAND ----------

CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, CAST(amount AS INT) AS amount FROM STREAM(main.raw.orders)

-- COMMAND ----------

CREATE OR REFRESH STREAMING TABLE returns AS
SELECT id FROM STREAM(main.raw.returns)
