CREATE STREAMING TABLE t AS SELECT id, k, amt FROM STREAM(spark_catalog.db.events);
