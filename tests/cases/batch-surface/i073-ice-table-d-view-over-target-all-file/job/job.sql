CREATE OR REPLACE TEMPORARY VIEW old AS SELECT * FROM ice.db.events;
INSERT OVERWRITE ice.db.events SELECT id, v, d FROM old WHERE d <> '2024-01-02' UNION ALL SELECT id, v, d FROM ice.db.staging;
