INSERT INTO events SELECT id, v, d FROM staging WHERE d = DATE '2024-01-02';
