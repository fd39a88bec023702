CREATE OR REFRESH STREAMING TABLE orders AS
WITH o AS (SELECT customer AS c, amount, ts FROM STREAM(main.sales.raw_orders) WATERMARK ts DELAY OF INTERVAL 10 MINUTES)
SELECT c AS customer, window(ts, '1 hour').start AS hour, sum(amount) AS total
FROM o GROUP BY c, window(ts, '1 hour');
