SET spark.sql.sources.partitionOverwriteMode=dynamic;
RESET spark.sql.sources.partitionOverwriteMode;
CREATE OR REPLACE TABLE events USING parquet PARTITIONED BY (d, c) AS SELECT * FROM staging;
