INSERT OVERWRITE main.sales.orders PARTITION (d = DATE '2024-01-02')
SELECT id, v FROM main.sales.staging WHERE d = DATE '2024-01-02';
