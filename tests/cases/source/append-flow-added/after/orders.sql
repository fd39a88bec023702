CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, amount FROM STREAM(main.sales.raw_orders);
CREATE FLOW web AS INSERT INTO orders BY NAME SELECT id, amount FROM STREAM(main.sales.web_orders);
