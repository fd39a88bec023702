CREATE TABLE IF NOT EXISTS main.sales.levels (id BIGINT, name STRING) USING delta;
INSERT INTO main.sales.levels VALUES (1, 'low'), (2, 'high');
CREATE OR REPLACE TABLE main.sales.names AS SELECT name FROM main.sales.levels;
