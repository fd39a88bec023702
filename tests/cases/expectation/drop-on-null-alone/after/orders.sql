CREATE OR REFRESH STREAMING TABLE orders (
  CONSTRAINT somewhere EXPECT (length(region) >= 0) ON VIOLATION DROP ROW
) AS
SELECT id, region FROM STREAM(main.sales.raw_orders);
