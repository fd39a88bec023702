INSERT INTO ice.db.events SELECT id, v, d FROM ice.db.staging;
