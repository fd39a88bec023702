CREATE STREAMING TABLE raw_orders TBLPROPERTIES ('pipelines.reset.allowed' = 'false') AS SELECT * FROM STREAM(ext.orders);
CREATE STREAMING TABLE orders TBLPROPERTIES ('pipelines.reset.allowed' = 'false') AS SELECT id FROM STREAM(raw_orders);
