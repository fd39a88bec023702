CREATE OR REFRESH STREAMING TABLE orders AS
SELECT id, amount FROM STREAM read_files('/landing/returns', format => 'json')
UNION ALL
SELECT id, amount FROM STREAM read_files('/landing/orders', format => 'json');
