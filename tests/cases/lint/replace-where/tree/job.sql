INSERT INTO main.sales.orders REPLACE WHERE d = DATE '2024-01-02'
SELECT * FROM main.sales.staging WHERE d = DATE '2024-01-02';
