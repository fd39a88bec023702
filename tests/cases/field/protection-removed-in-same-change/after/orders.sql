CREATE OR REFRESH STREAMING TABLE orders
AS
SELECT window(created_at, '10 minutes'), country, count(*) AS n FROM STREAM main.raw.orders WATERMARK created_at DELAY OF INTERVAL 1 HOUR GROUP BY window(created_at, '10 minutes'), country;
