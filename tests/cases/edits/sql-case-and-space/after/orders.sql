CREATE OR REFRESH STREAMING TABLE orders AS
WITH recent AS (
  select  ID,
         Customer, region,amount , ts
  FROM STREAM(main.sales.raw_orders)
  where amount > 0 and customer IS NOT NULL
)
SELECT id, customer, region, amount, ts FROM recent;
