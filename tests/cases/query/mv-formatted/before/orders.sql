CREATE OR REFRESH MATERIALIZED VIEW daily AS
SELECT customer, sum(amount) AS total FROM main.sales.raw_orders GROUP BY customer;
