CREATE STREAMING TABLE t AS SELECT id, price AS x FROM STREAM(spark_catalog.db.events);
