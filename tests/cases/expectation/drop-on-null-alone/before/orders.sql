CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, region FROM STREAM(main.sales.raw_orders);
