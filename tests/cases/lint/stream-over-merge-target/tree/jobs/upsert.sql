MERGE INTO main.crm.customers t USING main.crm.staging s ON t.id = s.id
WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
