CREATE OR REPLACE TABLE main.raw.typed AS SELECT id, CAST(happened AS TIMESTAMP) AS happened FROM main.raw.events;
