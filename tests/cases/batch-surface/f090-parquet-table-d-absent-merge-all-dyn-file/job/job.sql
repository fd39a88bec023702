SET spark.sql.sources.partitionOverwriteMode = dynamic;
MERGE INTO events t USING staging s ON t.id = s.id WHEN MATCHED THEN DELETE;
