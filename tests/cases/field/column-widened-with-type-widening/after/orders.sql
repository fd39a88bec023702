CREATE OR REFRESH STREAMING TABLE orders
TBLPROPERTIES ('delta.enableTypeWidening' = 'true')
AS
SELECT id, CAST(amount AS BIGINT) AS amount FROM STREAM(main.raw.orders);
