CREATE STREAMING TABLE t AS
SELECT id, k, amt FROM STREAM(spark_catalog.db.events)
UNION ALL
SELECT id, k, amt FROM STREAM(spark_catalog.db.events2);
