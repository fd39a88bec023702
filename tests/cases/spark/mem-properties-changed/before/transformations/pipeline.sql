CREATE STREAMING TABLE t TBLPROPERTIES ('a' = 'b') AS SELECT id, k, amt FROM STREAM(spark_catalog.db.events);
