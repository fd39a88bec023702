CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, a AS amount FROM (SELECT id, amount AS a, CAST(amount AS STRING) AS text FROM STREAM(main.sales.raw_orders));
