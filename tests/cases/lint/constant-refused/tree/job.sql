CREATE OR REPLACE TABLE main.raw.typed AS SELECT id, CAST('yesterday noon' AS TIMESTAMP) AS happened FROM main.raw.events;
