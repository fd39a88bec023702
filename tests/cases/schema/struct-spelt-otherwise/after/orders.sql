CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, struct(amount AS a) AS detail FROM STREAM(main.sales.raw_orders);
