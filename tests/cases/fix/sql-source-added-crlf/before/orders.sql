CREATE OR REFRESH STREAMING TABLE orders AS
WITH recent AS (
  SELECT id, customer, region, amount, ts
  FROM STREAM(main.sales.raw_orders)
  WHERE amount > 0
)
SELECT id, customer, region, amount, ts FROM recent;

CREATE OR REFRESH MATERIALIZED VIEW by_region AS
SELECT region, count(*) AS n FROM orders GROUP BY region;
