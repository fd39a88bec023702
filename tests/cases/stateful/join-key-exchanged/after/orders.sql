CREATE OR REFRESH STREAMING TABLE orders AS
SELECT o.customer, o.region, o.amount, w.customer AS c, w.region AS r
FROM STREAM(main.sales.raw_orders) WATERMARK ts DELAY OF INTERVAL 10 MINUTES AS o
JOIN STREAM(main.sales.web_orders) WATERMARK ts DELAY OF INTERVAL 10 MINUTES AS w
ON o.region = w.region AND w.ts BETWEEN o.ts AND o.ts + INTERVAL 1 HOUR;
