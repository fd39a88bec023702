SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT OVERWRITE events BY NAME SELECT id, v, d FROM staging;
