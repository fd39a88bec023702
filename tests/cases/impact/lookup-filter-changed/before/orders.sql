CREATE OR REFRESH MATERIALIZED VIEW known AS SELECT region, label FROM main.sales.regions WHERE rank > 1;
CREATE OR REFRESH STREAMING TABLE orders AS
SELECT o.id, known.label FROM STREAM(main.sales.raw_orders) AS o JOIN known ON o.region = known.region;
