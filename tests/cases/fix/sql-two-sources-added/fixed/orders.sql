CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, amount FROM STREAM(main.raw.orders);

CREATE FLOW orders_from_refunds AS
INSERT INTO orders BY NAME
SELECT id, -amount AS amount FROM STREAM(main.raw.refunds);

CREATE FLOW orders_from_returns AS
INSERT INTO orders BY NAME
SELECT id, amount FROM STREAM(main.raw.returns);
