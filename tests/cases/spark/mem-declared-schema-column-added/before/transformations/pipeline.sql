CREATE STREAMING TABLE t (id BIGINT, k STRING) AS SELECT id, k FROM STREAM(spark_catalog.db.events);
