CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, Customer AS customer, amount FROM STREAM(main.sales.raw_orders);
