CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, explode_outer(items) AS item FROM STREAM(main.sales.raw_orders);
