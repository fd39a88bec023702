CREATE OR REFRESH MATERIALIZED VIEW orders (
  CONSTRAINT positive EXPECT (amount > 0) ON VIOLATION DROP ROW
) AS
SELECT id, amount FROM main.sales.raw_orders;
