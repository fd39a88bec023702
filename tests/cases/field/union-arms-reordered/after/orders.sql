CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, amount FROM STREAM(main.raw.returns)
UNION ALL
SELECT id, amount FROM STREAM(main.raw.orders);
