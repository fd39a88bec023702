CREATE OR REFRESH STREAMING TABLE orders
TBLPROPERTIES ('pipelines.reset.allowed' = 'false')
AS
SELECT id FROM STREAM(main.raw.orders);
