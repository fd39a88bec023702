SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT OVERWRITE TABLE ice.db.events SELECT *, 1 AS extra FROM ice.db.staging;
