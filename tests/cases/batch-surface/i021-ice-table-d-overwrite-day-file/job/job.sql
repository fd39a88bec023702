INSERT OVERWRITE TABLE ice.db.events SELECT id, v, d FROM ice.db.staging WHERE d = DATE '2024-01-02';
