CREATE STREAMING TABLE t AS SELECT id, k FROM STREAM(spark_catalog.db.events);
