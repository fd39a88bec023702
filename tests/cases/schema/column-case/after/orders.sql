CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, customer, amount AS Amount FROM STREAM(main.sales.raw_orders);
