CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, customer, amount FROM STREAM(main.sales.raw_orders) WHERE customer IS NOT NULL AND 0 < amount;
