CREATE OR REFRESH MATERIALIZED VIEW orders AS
SELECT id, amount FROM main.sales.raw_orders;
