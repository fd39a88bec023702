SET spark.sql.sources.partitionOverwriteMode=dynamic;
RESET spark.sql.sources.partitionOverwriteMode;
INSERT INTO events SELECT id, v, d FROM staging;
