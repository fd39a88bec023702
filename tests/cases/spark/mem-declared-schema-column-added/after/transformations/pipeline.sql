CREATE STREAMING TABLE t (id BIGINT, k STRING, amt BIGINT) AS SELECT id, k, amt FROM STREAM(spark_catalog.db.events);
