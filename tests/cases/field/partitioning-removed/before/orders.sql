CREATE OR REFRESH STREAMING TABLE orders
PARTITIONED BY (country, day)
AS
SELECT id, country, DATE(created_at) AS day FROM STREAM(main.raw.orders);
