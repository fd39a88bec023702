CREATE OR REFRESH STREAMING TABLE orders AS
WITH recent AS (
  SELECT id, customer, region, amount, ts
  FROM STREAM(main.sales.raw_orders)
  WHERE amount > 0
)
SELECT id, customer, region, amount, CAST(amount AS INT) AS amount_int, ts FROM recent;

CREATE VIEW orders_current AS
SELECT * EXCEPT (amount, amount_int), coalesce(amount_int, try_cast(amount AS int)) AS amount
FROM orders;
