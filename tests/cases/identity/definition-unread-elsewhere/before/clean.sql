CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, upper(customer) AS customer FROM STREAM(raw_orders);

CREATE OR REFRESH MATERIALIZED VIEW customers AS
SELECT customer, count(*) AS orders FROM orders GROUP BY customer;
