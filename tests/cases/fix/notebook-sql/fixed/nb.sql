-- Databricks notebook source
-- MAGIC %md
-- MAGIC Orders

-- COMMAND ----------

CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, amount, CAST(amount AS INT) AS amount_int FROM STREAM(main.raw.orders);

CREATE VIEW orders_current AS
SELECT * EXCEPT (amount, amount_int), coalesce(amount_int, try_cast(amount AS int)) AS amount
FROM orders;

-- COMMAND ----------

CREATE OR REFRESH STREAMING TABLE returns AS
SELECT id FROM STREAM(main.raw.returns)
