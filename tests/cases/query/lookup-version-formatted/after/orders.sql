CREATE OR REFRESH STREAMING TABLE orders AS
SELECT o.id, r.label
FROM STREAM(main.sales.raw_orders) AS o JOIN main.sales.regions VERSION AS OF 3 AS  r  ON o.region = r.region;
