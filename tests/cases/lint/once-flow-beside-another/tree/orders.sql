CREATE OR REFRESH STREAMING TABLE orders;
CREATE FLOW live AS INSERT INTO orders BY NAME SELECT id, amount FROM STREAM(raw.sales.orders);
CREATE FLOW old AS INSERT INTO ONCE orders BY NAME SELECT id, amount FROM raw.sales.old_orders;
