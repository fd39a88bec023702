CREATE OR REFRESH STREAMING TABLE customers;

CREATE FLOW customer AS
INSERT INTO customers BY NAME SELECT id, name FROM STREAM(main.raw.customers);
