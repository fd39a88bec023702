CREATE OR REFRESH STREAMING TABLE orders (
  CONSTRAINT positive EXPECT (amount > 0) ON VIOLATION FAIL UPDATE
) AS
SELECT id, amount * 2 AS amount FROM STREAM(main.sales.raw_orders);
