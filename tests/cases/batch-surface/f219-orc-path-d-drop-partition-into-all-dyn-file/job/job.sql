SET spark.sql.sources.partitionOverwriteMode = dynamic;
ALTER TABLE orc.`out/events` DROP IF EXISTS PARTITION (d = '2024-01-02');
INSERT INTO orc.`out/events` SELECT id, v, d FROM staging;
