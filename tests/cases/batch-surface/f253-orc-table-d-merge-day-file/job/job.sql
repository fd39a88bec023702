MERGE INTO events t USING staging s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *;
