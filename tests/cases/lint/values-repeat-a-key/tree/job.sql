CREATE OR REPLACE TABLE main.sales.history USING delta AS SELECT * FROM VALUES (1, 'a'), (1, 'b') AS data(id, v);
