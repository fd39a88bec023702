SET spark.sql.sources.partitionOverwriteMode = dynamic;
DROP TABLE IF EXISTS events;
CREATE TABLE events USING parquet PARTITIONED BY (d) AS SELECT * FROM staging;
