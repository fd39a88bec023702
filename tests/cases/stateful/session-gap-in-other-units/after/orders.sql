CREATE OR REFRESH STREAMING TABLE orders AS
SELECT customer, session_window(ts, '300 seconds').start AS hour, sum(amount) AS total
FROM STREAM(main.sales.raw_orders) WATERMARK ts DELAY OF INTERVAL 10 MINUTES
GROUP BY customer, session_window(ts, '300 seconds');
