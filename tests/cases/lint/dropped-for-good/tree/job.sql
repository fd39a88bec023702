DROP TABLE IF EXISTS main.sales.old;
CREATE OR REPLACE TABLE main.sales.orders AS SELECT id, v, d FROM main.sales.staging;
