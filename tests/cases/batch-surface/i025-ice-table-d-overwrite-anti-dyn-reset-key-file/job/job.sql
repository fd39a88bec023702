SET spark.sql.sources.partitionOverwriteMode=dynamic;
RESET spark.sql.sources.partitionOverwriteMode;
INSERT OVERWRITE TABLE ice.db.events SELECT id, v, d FROM ice.db.staging s WHERE NOT EXISTS (SELECT 1 FROM ice.db.events t WHERE t.id = s.id);
