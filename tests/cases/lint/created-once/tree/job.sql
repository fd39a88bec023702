CREATE TABLE IF NOT EXISTS main.sales.levels USING delta AS SELECT 1 AS id, 'low' AS name;
