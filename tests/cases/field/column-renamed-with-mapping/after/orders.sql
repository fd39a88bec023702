CREATE OR REFRESH STREAMING TABLE orders
TBLPROPERTIES ('delta.columnMapping.mode' = 'name')
AS
SELECT id, amount AS total FROM STREAM(main.raw.orders);
