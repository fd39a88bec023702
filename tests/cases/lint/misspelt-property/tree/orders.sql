CREATE OR REFRESH STREAMING TABLE orders TBLPROPERTIES ('pipelines.reset.allow' = 'false')
AS SELECT id FROM STREAM(raw.sales.orders);
