CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, amount, country
FROM STREAM(main.raw.orders);
