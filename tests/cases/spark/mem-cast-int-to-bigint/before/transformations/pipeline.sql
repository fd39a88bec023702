CREATE STREAMING TABLE t AS SELECT id, CAST(amt AS INT) AS x FROM STREAM(spark_catalog.db.events);
