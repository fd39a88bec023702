CREATE OR REFRESH STREAMING TABLE orders CLUSTER BY (region) TBLPROPERTIES ('b' = '2', 'a' = '1') AS
SELECT id, region, amount FROM STREAM(main.sales.raw_orders);
