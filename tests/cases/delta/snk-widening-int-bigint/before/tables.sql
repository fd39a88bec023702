CREATE TABLE db.out (id bigint, k string, amt int, ts timestamp) USING delta TBLPROPERTIES ('delta.enableTypeWidening'='true');
