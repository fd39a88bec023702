-- Every order once, as it came in.
CREATE OR REFRESH STREAMING TABLE orders
COMMENT 'Orders, one row each'
AS SELECT
  order_id,
  customer,
  country,
  status,
  amount,
  ordered_at
FROM STREAM(main.landing.orders)
WHERE status <> 'test';

CREATE OR REFRESH MATERIALIZED VIEW orders_by_country AS
SELECT country, count(*) AS orders, sum(amount) AS revenue
FROM orders
GROUP BY country;
