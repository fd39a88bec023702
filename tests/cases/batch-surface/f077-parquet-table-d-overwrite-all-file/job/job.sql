INSERT OVERWRITE TABLE events SELECT id, v, d FROM staging;
