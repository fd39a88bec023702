CREATE TEMPORARY VIEW unused AS SELECT id FROM main.sales.raw_orders;
CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id FROM STREAM(main.sales.raw_orders);
