CREATE OR REFRESH STREAMING TABLE bronze AS
SELECT id, named_struct('amount', amount, 'country', country) AS doc FROM STREAM(main.raw.orders);

CREATE OR REFRESH STREAMING TABLE silver AS
SELECT id, doc.amount AS amount, doc.country AS country FROM STREAM(bronze);

CREATE OR REFRESH MATERIALIZED VIEW gold AS
SELECT country, sum(amount) AS total FROM silver GROUP BY country;
