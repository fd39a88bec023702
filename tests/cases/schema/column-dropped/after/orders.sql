CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, customer FROM STREAM(main.sales.raw_orders);
