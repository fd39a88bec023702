CREATE MATERIALIZED VIEW t AS SELECT id, k, amt FROM spark_catalog.db.events;
