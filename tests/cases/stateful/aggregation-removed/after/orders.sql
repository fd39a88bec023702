CREATE OR REFRESH STREAMING TABLE orders AS
SELECT customer, ts AS hour, amount AS total FROM STREAM(main.sales.raw_orders);
