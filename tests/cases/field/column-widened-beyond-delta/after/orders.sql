CREATE OR REFRESH STREAMING TABLE orders
TBLPROPERTIES ('delta.enableTypeWidening' = 'true')
AS
SELECT id, CAST(big AS DOUBLE) AS big FROM STREAM(main.raw.orders);
