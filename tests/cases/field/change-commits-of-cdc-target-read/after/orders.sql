CREATE OR REFRESH STREAMING TABLE history AS SELECT id, name FROM STREAM(main.raw.customers);

CREATE OR REFRESH STREAMING TABLE customers;

CREATE FLOW customers_cdc AS AUTO CDC INTO customers FROM STREAM(main.raw.customers) KEYS (id) SEQUENCE BY version;

CREATE OR REFRESH STREAMING TABLE copies AS SELECT id, name FROM STREAM(customers);
