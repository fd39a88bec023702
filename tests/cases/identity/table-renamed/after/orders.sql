CREATE OR REFRESH STREAMING TABLE sales AS
SELECT id, amount FROM STREAM(main.sales.raw_orders);
