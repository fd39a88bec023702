INSERT INTO main.sales.orders REPLACE WHERE d = DATE '2024-01-02'
SELECT id, v, d, updated_at, CAST(current_timestamp() AS STRING) FROM main.sales.staging WHERE d = DATE '2024-01-02';
