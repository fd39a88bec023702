CREATE OR REFRESH STREAMING TABLE customers AS
SELECT id, name FROM STREAM(main.raw.customers);
