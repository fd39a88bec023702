SET spark.sql.sources.partitionOverwriteMode = dynamic;
CREATE TABLE ice.db.events USING iceberg PARTITIONED BY (d) AS SELECT * FROM ice.db.staging;
