CREATE MATERIALIZED VIEW t AS SELECT k, sum(amt) AS s FROM spark_catalog.db.events GROUP BY k;
