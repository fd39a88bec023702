SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT INTO ice.db.events REPLACE WHERE d = DATE '2024-01-02' SELECT id, v, d FROM ice.db.staging s WHERE NOT EXISTS (SELECT 1 FROM ice.db.events t WHERE t.id = s.id);
