CREATE OR REFRESH STREAMING TABLE orders (
  CONSTRAINT positive EXPECT (amount > 0),
  CONSTRAINT known EXPECT (id IS NOT NULL)
) AS
SELECT id, amount FROM STREAM(main.sales.raw_orders);
