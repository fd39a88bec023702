CREATE OR REFRESH STREAMING TABLE orders AS SELECT /* the key */ id, ts FROM STREAM(raw.orders);
