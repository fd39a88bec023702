CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, amount, ts FROM STREAM(main.raw.orders);

CREATE OR REFRESH STREAMING TABLE hourly AS
SELECT window(ts, '1 hour') AS hour, SUM(amount) AS total
FROM STREAM(orders)
GROUP BY window(ts, '1 hour');

CREATE OR REFRESH STREAMING TABLE large_hours AS
SELECT * FROM STREAM(hourly) WHERE total > 6;
