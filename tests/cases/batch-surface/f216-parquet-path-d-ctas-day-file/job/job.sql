CREATE TABLE parquet.`out/events` USING parquet AS SELECT id, v, d FROM staging WHERE d = DATE '2024-01-02';
