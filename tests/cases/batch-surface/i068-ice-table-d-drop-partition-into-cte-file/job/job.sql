ALTER TABLE ice.db.events DROP IF EXISTS PARTITION (d = '2024-01-02');
INSERT INTO ice.db.events WITH s AS (SELECT * FROM ice.db.staging WHERE d >= '2024-01-02') SELECT id, v, d FROM s;
