SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT OVERWRITE TABLE events PARTITION (d) SELECT id, v, d FROM staging;
