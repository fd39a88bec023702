SET spark.sql.sources.partitionOverwriteMode=dynamic;
RESET;
UPDATE events SET v = concat(v, '+') WHERE d = '2024-01-02';
