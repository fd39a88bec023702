MERGE INTO main.sales.orders t USING (SELECT DISTINCT id, v, d FROM main.sales.staging) s ON t.id = s.id
WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
