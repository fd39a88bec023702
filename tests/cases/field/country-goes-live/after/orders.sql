CREATE OR REFRESH STREAMING TABLE orders;

CREATE FLOW orders_de AS
INSERT INTO orders BY NAME SELECT id, amount FROM STREAM(main.raw.orders_de);

CREATE FLOW orders_fr AS
INSERT INTO orders BY NAME SELECT id, amount FROM STREAM(main.raw.orders_fr);
