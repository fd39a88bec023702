CREATE OR REFRESH STREAMING TABLE orders TBLPROPERTIES ('pipelines.reset.allowed' = 'false')
AS
WITH recent AS (
  SELECT id, customer, region, amount, ts
  FROM STREAM(main.sales.raw_orders)
  WHERE amount > 1
)
SELECT id, customer, region, amount, ts FROM recent;
