CREATE MATERIALIZED VIEW t AS SELECT k, sum(amt) AS s, max(amt) AS m FROM spark_catalog.db.events GROUP BY k;
