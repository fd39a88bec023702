CREATE OR REFRESH STREAMING TABLE orders
TBLPROPERTIES ('pipelines.reset.alowed' = 'false')
AS
SELECT id FROM STREAM(main.raw.orders);
