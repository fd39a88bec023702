CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, amount FROM STREAM(main.sales.raw_orders)
UNION ALL
SELECT id, amount FROM STREAM(main.sales.web_orders);
