INSERT INTO main.sales.orders REPLACE WHERE d >= DATE '2024-01-02' AND d < DATE '2024-01-03'
SELECT id, v, d FROM main.sales.staging WHERE d >= DATE '2024-01-02' AND d < DATE '2024-01-03';
