CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, customer, amount AS total FROM STREAM(main.sales.raw_orders);
