SET spark.sql.sources.partitionOverwriteMode=dynamic;
RESET;
INSERT OVERWRITE TABLE events PARTITION (d = '') SELECT id, v FROM staging WHERE d = DATE '2024-01-02';
