CREATE STREAMING TABLE t TBLPROPERTIES ('a' = 'c') AS SELECT id, k, amt FROM STREAM(spark_catalog.db.events);
