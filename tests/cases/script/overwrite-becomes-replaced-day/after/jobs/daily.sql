INSERT INTO main.sales.daily REPLACE WHERE d = DATE '2024-01-02'
SELECT id, v, d FROM main.sales.staging WHERE d = DATE '2024-01-02';
