CREATE MATERIALIZED VIEW names AS SELECT id, max(v) AS name FROM events WHERE amt > 0 GROUP BY id;
CREATE STREAMING TABLE t AS SELECT c.cid, n.name FROM STREAM(clicks) c JOIN names n ON c.id = n.id;
