CREATE OR REFRESH STREAMING TABLE orders AS SELECT id, amount FROM STREAM(main.sales.raw_orders);
