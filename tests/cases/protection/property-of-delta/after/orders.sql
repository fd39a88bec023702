CREATE OR REFRESH STREAMING TABLE orders TBLPROPERTIES ('delta.appendOnly' = 'true') AS
SELECT id, amount FROM STREAM(main.sales.raw_orders);
