SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT INTO ice.db.events SELECT *, 1 AS extra FROM ice.db.staging;
