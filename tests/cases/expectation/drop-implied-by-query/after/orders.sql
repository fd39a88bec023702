CREATE OR REFRESH STREAMING TABLE orders (
  CONSTRAINT positive EXPECT (amount > 0) ON VIOLATION DROP ROW
) AS
SELECT id, amount FROM STREAM(main.sales.raw_orders) WHERE amount > 0;
