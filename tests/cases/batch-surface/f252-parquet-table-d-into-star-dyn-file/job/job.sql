SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT INTO events SELECT * FROM staging;
