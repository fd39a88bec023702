CREATE TABLE db.out (id bigint NOT NULL, k string, amt bigint, ts timestamp) USING delta;
