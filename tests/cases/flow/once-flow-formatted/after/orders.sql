CREATE OR REFRESH STREAMING TABLE orders;
CREATE FLOW load AS INSERT INTO orders BY NAME SELECT id, amount FROM STREAM(main.sales.raw_orders);
CREATE FLOW backfill AS INSERT INTO ONCE orders BY NAME
  SELECT id, amount
  FROM main.sales.web_orders;
