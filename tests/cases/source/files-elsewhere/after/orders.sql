CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, amount FROM STREAM read_files('/landing/orders_v2', format => 'json', schema => 'id BIGINT, amount BIGINT');
