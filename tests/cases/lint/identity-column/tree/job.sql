CREATE OR REPLACE TABLE main.sales.stores (id BIGINT GENERATED ALWAYS AS IDENTITY, name STRING, city STRING) USING delta;
INSERT INTO main.sales.stores (name, city) VALUES ('Main Street', 'Whoville');
