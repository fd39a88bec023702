CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, CAST(amount AS STRING) AS amount FROM STREAM(main.sales.raw_orders);
