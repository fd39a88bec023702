DECLARE OR REPLACE VARIABLE day DATE DEFAULT DATE'2024-01-02';
SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT OVERWRITE orders SELECT * FROM raw_orders WHERE dt = day;
