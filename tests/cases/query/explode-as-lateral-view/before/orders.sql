CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, explode(items) AS item FROM STREAM(main.sales.raw_orders);
