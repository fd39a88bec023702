SET spark.sql.sources.partitionOverwriteMode = dynamic;
TRUNCATE TABLE ice.db.events PARTITION (d = '2024-01-02');
INSERT INTO ice.db.events SELECT d, v, id FROM ice.db.staging;
