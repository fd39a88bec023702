SET spark.sql.sources.partitionOverwriteMode=dynamic;
SET spark.sql.sources.partitionOverwriteMode=static;
INSERT OVERWRITE main.sales.orders SELECT id, v, d FROM main.sales.staging;
