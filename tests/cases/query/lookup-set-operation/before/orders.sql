CREATE OR REFRESH STREAMING TABLE orders AS
SELECT o.id FROM STREAM(main.sales.raw_orders) AS o
JOIN (SELECT region FROM main.sales.regions EXCEPT SELECT region FROM main.sales.old_regions) AS r ON o.region = r.region;
