SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT INTO events PARTITION (d = '2024-01-02') SELECT id, v FROM staging WHERE d = DATE '2024-01-02';
