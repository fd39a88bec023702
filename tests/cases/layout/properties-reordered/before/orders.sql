CREATE OR REFRESH STREAMING TABLE orders CLUSTER BY (region) TBLPROPERTIES ('a' = '1', 'b' = '2') AS
SELECT id, region, amount FROM STREAM(main.sales.raw_orders);
