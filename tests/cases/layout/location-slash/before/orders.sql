CREATE OR REFRESH STREAMING TABLE orders LOCATION '/tables/a' AS
SELECT id, region, amount FROM STREAM(main.sales.raw_orders);
