SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT OVERWRITE TABLE ice.db.events PARTITION (d = '') SELECT id, v FROM ice.db.staging;
