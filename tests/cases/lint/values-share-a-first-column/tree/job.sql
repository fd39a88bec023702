CREATE OR REPLACE TABLE main.sales.levels USING delta AS SELECT * FROM VALUES ('low', 1), ('low', 2) AS data(name, level);
