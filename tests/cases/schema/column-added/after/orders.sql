CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, customer, amount, region FROM STREAM(main.sales.raw_orders);
