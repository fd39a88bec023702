CREATE OR REPLACE TABLE main.sales.changes AS SELECT * FROM VALUES (1, 'low'), (2, 'high') AS rows(id, name);
MERGE INTO main.sales.levels t USING main.sales.changes s ON t.id = s.id
WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
