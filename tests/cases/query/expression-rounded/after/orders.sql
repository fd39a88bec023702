CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, lower(customer) AS customer FROM STREAM(main.sales.raw_orders);
