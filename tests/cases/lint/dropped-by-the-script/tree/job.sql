DROP TABLE main.sales.staging;
CREATE OR REPLACE TABLE main.sales.orders AS SELECT id, v, d FROM main.sales.staging;
