SET spark.sql.sources.partitionOverwriteMode=dynamic;
SET spark.sql.sources.partitionOverwriteMode=static;
INSERT OVERWRITE TABLE events PARTITION (d, c) SELECT * FROM staging;
