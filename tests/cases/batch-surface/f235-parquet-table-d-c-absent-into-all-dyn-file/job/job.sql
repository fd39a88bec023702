SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT INTO events SELECT id, v, c, d FROM staging;
