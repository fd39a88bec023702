CREATE OR REFRESH STREAMING TABLE orders_by_hour AS
SELECT window(ts, '1 hour') AS hour, count(*) AS orders
FROM STREAM(raw.sales.orders) WATERMARK ts DELAY OF INTERVAL 10 MINUTES
GROUP BY window(ts, '1 hour');
