CREATE OR REFRESH STREAMING TABLE orders
TBLPROPERTIES ('pipelines.reset.allowed' = 'false');

CREATE FLOW first AS
INSERT INTO orders BY NAME SELECT id, amount FROM STREAM(main.raw.orders) WHERE amount > 0;
