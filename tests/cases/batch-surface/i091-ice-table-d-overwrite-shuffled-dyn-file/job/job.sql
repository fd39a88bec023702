SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT OVERWRITE TABLE ice.db.events SELECT d, v, id FROM ice.db.staging;
