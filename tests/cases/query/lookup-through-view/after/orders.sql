CREATE TEMPORARY VIEW known AS SELECT customer, segment FROM main.sales.customers;
CREATE OR REFRESH STREAMING TABLE orders AS
SELECT o.id, o.amount, c.segment FROM STREAM(main.sales.raw_orders) AS o
JOIN known AS c ON o.customer = c.customer;
