CREATE TABLE db.out (id bigint, k string, amt bigint, ts timestamp) USING delta;
