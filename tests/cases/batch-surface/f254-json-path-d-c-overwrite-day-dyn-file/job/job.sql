SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT OVERWRITE TABLE json.`out/events` SELECT id, v, c, d FROM staging WHERE d = DATE '2024-01-02';
