CREATE FLOW backfill AS INSERT INTO ONCE orders BY NAME SELECT id, amount FROM main.sales.web_orders;
