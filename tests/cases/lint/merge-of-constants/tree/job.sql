MERGE INTO main.sales.levels t USING (VALUES (5, 'top') AS s(id, name)) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *;
