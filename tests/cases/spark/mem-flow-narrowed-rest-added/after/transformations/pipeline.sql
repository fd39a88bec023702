CREATE STREAMING TABLE t;
CREATE FLOW f1 AS INSERT INTO t BY NAME SELECT id, k, amt FROM STREAM(spark_catalog.db.events) WHERE k = 'a';
CREATE FLOW rest AS INSERT INTO t BY NAME SELECT id, k, amt FROM STREAM(spark_catalog.db.events) WHERE k <> 'a';
