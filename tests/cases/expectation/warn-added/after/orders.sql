CREATE OR REFRESH STREAMING TABLE orders (
  CONSTRAINT positive EXPECT (amount > 0)
) AS
SELECT id, amount FROM STREAM(main.sales.raw_orders);
