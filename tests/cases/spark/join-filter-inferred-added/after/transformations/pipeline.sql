CREATE STREAMING TABLE t AS SELECT e.id AS eid, e.v AS ev, c.url FROM STREAM(events) e JOIN STREAM(clicks) c ON e.id = c.id AND e.k = c.k WHERE e.k = 'a' AND c.k = 'a';
