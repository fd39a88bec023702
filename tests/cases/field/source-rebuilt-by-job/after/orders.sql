CREATE OR REFRESH STREAMING TABLE main.sales.orders AS
SELECT id, amount
FROM STREAM(main.raw.orders);
