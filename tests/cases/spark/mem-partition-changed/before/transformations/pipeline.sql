CREATE STREAMING TABLE t PARTITIONED BY (k) AS SELECT id, k, amt FROM STREAM(spark_catalog.db.events);
