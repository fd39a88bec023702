CREATE STREAMING TABLE orders
AS
SELECT id, country, DATE(created_at) AS day FROM STREAM raw_orders;
