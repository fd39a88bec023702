CREATE TABLE db.out (id bigint, k string, amt bigint, ts timestamp, d date GENERATED ALWAYS AS (CAST(ts AS DATE))) USING delta;
