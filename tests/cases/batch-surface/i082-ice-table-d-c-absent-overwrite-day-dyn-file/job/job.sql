SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT OVERWRITE ice.db.events SELECT id, v, c, d FROM ice.db.staging WHERE d = DATE '2024-01-02';
