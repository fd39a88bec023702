CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, customer, a AS amount FROM (SELECT id, customer, amount AS a FROM STREAM(main.sales.raw_orders));
