MERGE INTO main.sales.orders t USING (
  SELECT id, v, d, updated_at FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY updated_at DESC) AS n FROM main.sales.staging) WHERE n = 1
) s ON t.id = s.id
WHEN MATCHED AND s.updated_at > t.updated_at THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
