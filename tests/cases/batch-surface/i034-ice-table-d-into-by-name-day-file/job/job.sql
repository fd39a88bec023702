INSERT INTO ice.db.events BY NAME SELECT id, v, d FROM ice.db.staging WHERE d = DATE '2024-01-02';
