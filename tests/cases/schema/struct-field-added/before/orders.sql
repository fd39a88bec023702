CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, named_struct('a', amount) AS detail FROM STREAM(main.sales.raw_orders);
