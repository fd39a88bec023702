SET spark.sql.sources.partitionOverwriteMode=dynamic;
RESET spark.sql.sources.partitionOverwriteMode;
CREATE TABLE IF NOT EXISTS events USING parquet PARTITIONED BY (d) AS SELECT id, v, d FROM staging WHERE d = DATE '2024-01-02';
