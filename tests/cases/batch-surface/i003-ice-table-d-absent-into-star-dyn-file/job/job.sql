SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT INTO ice.db.events SELECT * FROM ice.db.staging;
