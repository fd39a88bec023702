SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT OVERWRITE events BY NAME SELECT id, v, d FROM staging WHERE d = DATE '2024-01-02';
