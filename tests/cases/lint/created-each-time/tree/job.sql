CREATE TABLE main.sales.levels USING delta AS SELECT 1 AS id, 'low' AS name;
