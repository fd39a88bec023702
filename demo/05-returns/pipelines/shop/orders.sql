-- Every order once, as it came in.
CREATE OR REFRESH STREAMING TABLE orders
COMMENT 'Orders, one row each'
AS
WITH landed AS (
  SELECT * FROM STREAM(main.landing.orders)
  UNION ALL
  SELECT * FROM STREAM(main.landing.returns)
)
SELECT l.order_id, l.customer, l.country, l.status, l.amount, l.ordered_at
FROM landed AS l
WHERE l.status != 'test';

CREATE OR REFRESH MATERIALIZED VIEW orders_by_country AS
SELECT country, count(*) AS orders, sum(amount) AS revenue
FROM orders
WHERE country IN ('DE', 'FR', 'PT')
GROUP BY country;
