CREATE OR REFRESH STREAMING TABLE orders
TBLPROPERTIES ('delta.enableTypeWidening' = 'true')
AS
SELECT id, amount FROM STREAM(main.raw.orders);
