CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, upper(c) AS customer FROM (SELECT id, customer AS c FROM STREAM(main.sales.raw_orders));
