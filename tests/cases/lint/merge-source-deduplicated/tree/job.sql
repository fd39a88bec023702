MERGE INTO main.sales.orders t USING (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY v DESC) AS n FROM main.sales.staging) WHERE n = 1) s ON t.id = s.id
WHEN MATCHED AND s.v > t.v THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
