CREATE OR REFRESH STREAMING TABLE orders AS
SELECT region, count(*) AS n FROM STREAM(main.sales.raw_orders) WATERMARK ts DELAY OF INTERVAL 1 HOUR GROUP BY region, customer, window(ts, '1 hour');

CREATE OR REFRESH STREAMING TABLE copy AS
SELECT region FROM STREAM(orders);
