CREATE OR REFRESH STREAMING TABLE orders AS
SELECT o.id, o.amount, w.region
FROM STREAM(main.sales.raw_orders) WATERMARK ts DELAY OF INTERVAL 10 MINUTES AS o
JOIN STREAM(main.sales.web_orders) WATERMARK ts DELAY OF INTERVAL 10 MINUTES AS w
ON o.id = w.id AND o.customer = w.customer AND w.ts BETWEEN o.ts AND o.ts + INTERVAL 1 HOUR;
