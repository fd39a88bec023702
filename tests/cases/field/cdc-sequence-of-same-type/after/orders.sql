CREATE OR REFRESH STREAMING TABLE customers;

CREATE FLOW customers_cdc AS AUTO CDC INTO customers
FROM STREAM(main.raw.customers)
KEYS (id)
SEQUENCE BY version + 1
STORED AS SCD TYPE 1;
