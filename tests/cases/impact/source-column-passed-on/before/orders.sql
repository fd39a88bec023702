CREATE OR REFRESH STREAMING TABLE bronze AS
SELECT * FROM STREAM(main.raw.orders);

CREATE OR REFRESH STREAMING TABLE silver AS
SELECT * FROM STREAM(bronze);

CREATE TEMPORARY VIEW named AS
SELECT s.*, c.region FROM silver s JOIN main.raw.countries c ON s.country = c.country;

CREATE OR REFRESH MATERIALIZED VIEW by_region AS
SELECT region, sum(amount) AS total, count(*) AS n FROM named GROUP BY region;

CREATE OR REFRESH MATERIALIZED VIEW by_day AS
SELECT date(created_at) AS day, count(*) AS n FROM silver GROUP BY date(created_at);

CREATE OR REFRESH STREAMING TABLE big AS
SELECT id, amount AS value FROM STREAM(silver) WHERE amount > 100;
