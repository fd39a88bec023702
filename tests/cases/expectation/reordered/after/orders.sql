CREATE OR REFRESH STREAMING TABLE orders (
  CONSTRAINT known EXPECT (id IS NOT NULL),
  CONSTRAINT positive EXPECT (amount > 0)
) AS
SELECT id, amount FROM STREAM(main.sales.raw_orders);
