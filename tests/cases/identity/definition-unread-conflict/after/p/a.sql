<<<<<<< HEAD
CREATE OR REFRESH STREAMING TABLE orders AS SELECT id, ts FROM STREAM(raw.orders);
=======
CREATE OR REFRESH MATERIALIZED VIEW orders AS SELECT id, ts FROM raw.orders;
>>>>>>> feature
