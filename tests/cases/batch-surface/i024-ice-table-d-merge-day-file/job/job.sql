MERGE INTO ice.db.events t USING ice.db.staging s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
