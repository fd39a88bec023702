CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, customer, amount FROM STREAM(main.sales.raw_orders);
