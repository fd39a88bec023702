CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, item FROM STREAM(main.sales.raw_orders) LATERAL VIEW explode(items) x AS item;
