CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, CAST(amount AS BIGINT) AS amount FROM STREAM(main.sales.raw_orders);
