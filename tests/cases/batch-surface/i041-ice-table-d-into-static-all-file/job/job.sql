INSERT INTO ice.db.events PARTITION (d = '2024-01-02') SELECT id, v FROM ice.db.staging;
