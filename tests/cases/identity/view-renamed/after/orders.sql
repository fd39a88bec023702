CREATE OR REFRESH MATERIALIZED VIEW totals AS
SELECT customer, sum(amount) AS total FROM main.sales.raw_orders GROUP BY customer;
