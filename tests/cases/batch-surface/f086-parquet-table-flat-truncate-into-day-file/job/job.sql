TRUNCATE TABLE events;
INSERT INTO events SELECT id, v, c, d FROM staging WHERE d = DATE '2024-01-02';
