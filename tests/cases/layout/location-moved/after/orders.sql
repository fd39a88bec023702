CREATE OR REFRESH STREAMING TABLE orders LOCATION '/tables/b' AS
SELECT id, region, amount FROM STREAM(main.sales.raw_orders);
