CREATE OR REFRESH STREAMING TABLE orders PARTITIONED BY (region) AS
SELECT id, region, amount FROM STREAM(main.sales.raw_orders);
