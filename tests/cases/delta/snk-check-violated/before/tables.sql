CREATE TABLE db.out (id bigint, k string, amt bigint, ts timestamp) USING delta;
ALTER TABLE db.out ADD CONSTRAINT small CHECK (amt < 1000 OR amt IS NULL);
