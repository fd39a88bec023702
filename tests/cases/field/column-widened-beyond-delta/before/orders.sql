CREATE OR REFRESH STREAMING TABLE orders
TBLPROPERTIES ('delta.enableTypeWidening' = 'true')
AS
SELECT id, big FROM STREAM(main.raw.orders);
