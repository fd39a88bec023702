CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, country, amount
FROM STREAM(main.raw.orders)
WHERE amount > 10;
