MERGE INTO main.sales.orders t USING main.sales.staging s ON t.id = s.id
WHEN MATCHED AND s.v > t.v THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
