INSERT INTO main.sales.orders REPLACE WHERE d = DATE '2024-01-02'
SELECT id, sha2(concat(id, v), 256) AS v, d FROM main.sales.staging WHERE d = DATE '2024-01-02';
