CREATE OR REFRESH STREAMING TABLE orders TBLPROPERTIES ('pipelines.reset.allowed' = 'false') AS
SELECT id, CAST(amount AS INT) AS amount FROM STREAM(main.sales.raw_orders);
