CREATE OR REFRESH STREAMING TABLE orders AS
SELECT region AS customer, window(ts, '1 hour').start AS hour, sum(amount) AS total
FROM STREAM(main.sales.raw_orders) WATERMARK ts DELAY OF INTERVAL 10 MINUTES
GROUP BY region, window(ts, '1 hour');
