CREATE TABLE ice.db.events USING iceberg PARTITIONED BY (d) AS SELECT id, v, d FROM ice.db.staging;
