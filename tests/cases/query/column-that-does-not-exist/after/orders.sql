CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, customer, amonut AS amount FROM STREAM(main.sales.raw_orders);
