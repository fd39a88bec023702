CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, status, CAST(amount AS DECIMAL(12,2)) AS amount FROM STREAM(main.sales.raw_orders)
WHERE status <> 'test';
