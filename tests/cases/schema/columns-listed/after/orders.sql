CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, customer, region, amount, price, ts, shipped FROM STREAM(main.sales.raw_orders);
