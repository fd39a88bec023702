CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, upper(customer) AS customer FROM STREAM(raw_orders);
