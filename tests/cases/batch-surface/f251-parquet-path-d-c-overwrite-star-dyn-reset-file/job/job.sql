SET spark.sql.sources.partitionOverwriteMode=dynamic;
RESET;
INSERT OVERWRITE parquet.`out/events` SELECT * FROM staging;
