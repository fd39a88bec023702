CREATE OR REFRESH STREAMING TABLE orders AS
SELECT amount, id, customer FROM STREAM(main.sales.raw_orders);
