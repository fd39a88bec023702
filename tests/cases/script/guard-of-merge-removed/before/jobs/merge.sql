MERGE INTO main.sales.daily t USING (SELECT * FROM main.sales.staging QUALIFY row_number() OVER (PARTITION BY id ORDER BY d DESC) = 1) s ON t.id = s.id
WHEN MATCHED AND s.d > t.d THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
