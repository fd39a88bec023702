CREATE OR REFRESH STREAMING TABLE customers;

CREATE FLOW customers AS
INSERT INTO customers BY NAME SELECT id, name FROM STREAM(main.raw.customers);
