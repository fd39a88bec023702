CREATE STREAMING TABLE t PARTITIONED BY (id) AS SELECT id, k, amt FROM STREAM(spark_catalog.db.events);
