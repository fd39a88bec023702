SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT OVERWRITE events SELECT * FROM staging;
