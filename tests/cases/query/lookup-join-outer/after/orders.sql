CREATE OR REFRESH STREAMING TABLE orders AS
SELECT o.id, o.amount, c.segment FROM STREAM(main.sales.raw_orders) AS o
LEFT JOIN main.sales.customers AS c ON o.customer = c.customer;
