CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, 'web' AS channel FROM STREAM(main.sales.raw_orders)
UNION ALL
SELECT rank, 'app' AS channel FROM STREAM(main.sales.regions);
