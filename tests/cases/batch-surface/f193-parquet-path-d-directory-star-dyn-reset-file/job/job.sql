SET spark.sql.sources.partitionOverwriteMode=dynamic;
RESET;
INSERT OVERWRITE DIRECTORY 'out/events' USING parquet SELECT * FROM staging;
