CREATE OR REFRESH MATERIALIZED VIEW daily AS
SELECT customer,
       SUM(amount) AS total
  FROM main.sales.raw_orders
 GROUP BY 1;
