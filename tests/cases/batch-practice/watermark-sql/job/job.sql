INSERT INTO orders
SELECT s.* FROM raw_orders s
WHERE s.dt > (SELECT coalesce(max(dt), DATE'1970-01-01') FROM orders);
