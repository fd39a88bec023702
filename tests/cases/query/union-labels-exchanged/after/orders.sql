CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, 'app' AS channel FROM STREAM(main.sales.raw_orders)
UNION ALL
SELECT rank, 'web' AS channel FROM STREAM(main.sales.regions);
