CREATE OR REFRESH STREAMING TABLE orders AS
SELECT customer, window(ts, '1 hour').start AS hour, sum(amount) AS total
FROM STREAM(main.sales.raw_orders) WATERMARK ts DELAY OF INTERVAL 10 MINUTES
GROUP BY customer, window(ts, '1 hour');
