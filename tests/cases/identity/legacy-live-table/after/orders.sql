CREATE OR REFRESH STREAMING LIVE TABLE orders AS
SELECT id, amount FROM STREAM(main.sales.raw_orders);
