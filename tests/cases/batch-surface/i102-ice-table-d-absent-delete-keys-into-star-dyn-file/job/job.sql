SET spark.sql.sources.partitionOverwriteMode = dynamic;
DELETE FROM ice.db.events WHERE id IN (SELECT id FROM ice.db.staging);
INSERT INTO ice.db.events SELECT * FROM ice.db.staging;
