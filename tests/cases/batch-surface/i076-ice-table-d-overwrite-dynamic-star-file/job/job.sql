INSERT OVERWRITE TABLE ice.db.events PARTITION (d) SELECT * FROM ice.db.staging;
