CREATE OR REFRESH STREAMING TABLE orders
TBLPROPERTIES ('delta.columnMapping.mode' = 'name')
AS
SELECT id, amount FROM STREAM(main.raw.orders);
