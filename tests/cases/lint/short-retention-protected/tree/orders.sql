CREATE OR REFRESH STREAMING TABLE orders TBLPROPERTIES ('pipelines.reset.allowed' = 'false')
AS SELECT id, amount FROM STREAM(raw.sales.orders);
