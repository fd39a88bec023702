CREATE OR REFRESH STREAMING TABLE orders AS
SELECT o.id, o.amount, c.name
FROM STREAM(main.raw.orders) o JOIN STREAM(main.raw.customers) c ON o.id = c.order_id;
