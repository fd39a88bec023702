CREATE STREAMING TABLE t AS SELECT amt, k, id FROM STREAM(spark_catalog.db.events);
