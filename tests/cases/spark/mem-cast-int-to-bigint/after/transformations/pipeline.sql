CREATE STREAMING TABLE t AS SELECT id, amt AS x FROM STREAM(spark_catalog.db.events);
