CREATE OR REFRESH STREAMING TABLE orders (id BIGINT, amount STRING) AS
SELECT id, amount FROM STREAM(main.sales.raw_orders);
