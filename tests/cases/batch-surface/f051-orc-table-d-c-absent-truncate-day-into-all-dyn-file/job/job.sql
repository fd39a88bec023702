SET spark.sql.sources.partitionOverwriteMode = dynamic;
TRUNCATE TABLE events PARTITION (d = '2024-01-02');
INSERT INTO events SELECT id, v, c, d FROM staging;
