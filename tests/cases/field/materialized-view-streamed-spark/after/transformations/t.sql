CREATE MATERIALIZED VIEW totals AS SELECT country, count(*) AS n FROM raw_orders GROUP BY country;

CREATE STREAMING TABLE totals_log AS SELECT * FROM STREAM totals;
