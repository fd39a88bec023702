INSERT INTO ice.db.events BY NAME SELECT * FROM ice.db.staging;
