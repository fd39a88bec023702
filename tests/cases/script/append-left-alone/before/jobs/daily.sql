INSERT INTO main.sales.daily SELECT id, v, d FROM main.sales.staging WHERE d = DATE '2024-01-02';
